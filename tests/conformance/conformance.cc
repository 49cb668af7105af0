#include "conformance/conformance.h"

#include "support/served.h"

namespace ff::test {
namespace {

std::string name_of_store(const ::testing::TestParamInfo<StoreUnderTest>& info) { return info.param.name; }

}  // namespace

INSTANTIATE_TEST_SUITE_P(Stores, Domain, ::testing::ValuesIn(stores_under_test()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, Executions, ::testing::ValuesIn(stores_under_test()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, Scheduling, ::testing::ValuesIn(stores_under_test()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, Background, ::testing::ValuesIn(stores_under_test()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, InProcess, ::testing::ValuesIn(stores_under_test()), name_of_store);

INSTANTIATE_TEST_SUITE_P(Servers, Domain, ::testing::ValuesIn(servers_under_test()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Servers, Executions, ::testing::ValuesIn(servers_under_test()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Servers, Scheduling, ::testing::ValuesIn(servers_under_test()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Servers, Background, ::testing::ValuesIn(servers_under_test()), name_of_store);

}  // namespace ff::test
