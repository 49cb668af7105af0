// Scripts that let a shell complete commands and options. They are made from the program's own commands, so that they
// cannot tell of others.

#include "cli/commands.h"

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

/// What may follow a command.
struct Node {
  std::string path;  ///< ` lanes pause`; empty: the program itself
  std::vector<std::string> words;
};

void add_nodes(const CLI::App& command, const std::string& path, std::vector<Node>& nodes) {
  Node node{path, {}};
  const auto commands = command.get_subcommands([](const CLI::App* each) { return !each->get_name().empty(); });
  for (const CLI::App* each : commands) node.words.push_back(each->get_name());
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) node.words.push_back("--" + name);
  nodes.push_back(std::move(node));
  for (const CLI::App* each : commands) add_nodes(*each, path + " " + each->get_name(), nodes);
}

std::vector<Node> nodes_of(const CLI::App& app) {
  std::vector<Node> nodes;
  add_nodes(app, "", nodes);
  // Options of the program may stand behind every command.
  std::vector<std::string> everywhere;
  for (const std::string& word : nodes.front().words)
    if (word.starts_with("--") && word != "--version") everywhere.push_back(word);
  for (Node& node : nodes) {
    if (node.path.empty()) continue;
    for (const std::string& word : everywhere)
      if (std::find(node.words.begin(), node.words.end(), word) == node.words.end()) node.words.push_back(word);
  }
  return nodes;
}

/// The two shells differ in how they say which words are typed, and how they are told what may follow.
struct Shell {
  std::string_view head, offer, tail;
};

constexpr Shell kBash{
    R"(# Completion of ff for bash. Use: source <(ff completion bash)
_ff() {
  local at="" word i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    [[ "$word" == "--" ]] && return
)",
    "COMPREPLY=($(compgen -W '{}' -- \"${{COMP_WORDS[COMP_CWORD]}}\"))",
    R"(}
complete -o default -F _ff ff
)"};

constexpr Shell kZsh{
    R"(#compdef ff
# Completion of ff for zsh. Use: source <(ff completion zsh)
_ff() {
  local at="" word i
  for ((i = 2; i < CURRENT; ++i)); do
    word="${words[i]}"
    [[ "$word" == "--" ]] && return
)",
    "compadd -- {}",
    R"(}
(( $+functions[compdef] )) && compdef _ff ff
)"};

std::string script(const std::vector<Node>& nodes, const Shell& shell) {
  std::string text(shell.head);
  text += "    case \"$at $word\" in\n      ";
  for (std::size_t i = 1; i < nodes.size(); ++i) text += fmt::format("{}'{}'", i == 1 ? "" : "|", nodes[i].path);
  text += ") at=\"$at $word\" ;;\n    esac\n  done\n  case \"$at\" in\n";
  for (const Node& node : nodes) {
    const std::string offer = fmt::format(fmt::runtime(shell.offer), fmt::join(node.words, " "));
    text += fmt::format("    '{}') {} ;;\n", node.path, offer);
  }
  text += "  esac\n";
  text += shell.tail;
  return text;
}

}  // namespace

void add_completion(Program& program) {
  CLI::App* command = program.add(nullptr, "completion", "Print a script that completes commands and options in a shell",
                                  "  source <(ff completion bash)\n  ff completion zsh > ~/.zfunc/_ff");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  program.on(command, [&program, shell]() -> Result<int> {
    const std::string text = script(nodes_of(program.app), *shell == "bash" ? kBash : kZsh);
    program.globals.output.raw(text);
    return kDone;
  });
}

}  // namespace ff::cli
