// Asio and its TLS part, compiled here and nowhere else.

#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
