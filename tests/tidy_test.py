#!/usr/bin/env python3
"""Shows that every check of `tidy` finds what it is for: a clean tree, and faults planted in copies of it."""

import contextlib
import importlib.machinery
import importlib.util
import io
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("tidy", str(Path(__file__).resolve().parent / "tidy"))
tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
loader.exec_module(tidy)

HEADER = "#pragma once\n\nnamespace ff {}\n"
SCRIPT = "#!/usr/bin/env bash\nset -e\n"
CLEAN = {
    "README.md": "# A tree\n\nBuild with `./run`, test with `./test`. Read [more](docs/more.md#the-rest).\n",
    "docs/more.md": "# More\n\n## The rest\n\nSee `src/core/rule.cc`, `rule.h` and [the top](../README.md).\n",
    "run": SCRIPT,
    "test": SCRIPT,
    ".ci/run": SCRIPT + "./test\n",
    "scripts/setup": SCRIPT,
    "tests/tidy": "#!/usr/bin/env python3\n",
    "tests/README.md": "# Tests\n",
    "include/flowfabric/ids.h": "#pragma once\n\n#include <string>\n",
    "include/flowfabric/json.h": "#pragma once\n\n#include <flowfabric/ids.h>\n\n#include <boost/json/value.hpp>\n",
    "examples/first.cc": '#include "expect.h"\n\n#include <flowfabric/ids.h>\n',
    "src/README.md": "# src\n",
    "src/version.h": HEADER,
    "src/core/README.md": "# core\n",
    "src/core/rule.h": HEADER,
    # Words of impure things in comments and texts do no harm.
    "src/core/rule.cc": '#include "core/rule.h"\n\n#include <fmt/format.h>\n\n// std::thread\nauto t = "time(";\n',
    "src/core/rule_test.cc": '#include "core/rule.h"\n#include "support/rules.h"\n\n#include <random>\n',
    "src/store/README.md": "# store\n",
    "src/store/store.h": '#pragma once\n\n#include "core/rule.h"\n',
    "src/store/open_store.cc": '#include "store/sqlite/sqlite_store.h"\n',
    "src/store/open_store.h": HEADER,
    "src/store/sqlite/README.md": "# sqlite\n",
    "src/store/sqlite/sqlite_store.h": '#pragma once\n\n#include "store/store.h"\n\n#include <sqlite3.h>\n',
    "src/engine/README.md": "# engine\n",
    "src/engine/engine.cc": '#include "store/store.h"\n#include "version.h"\n\n#include <thread>\n',
    "src/engine/engine_test.cc": '#include "store/sqlite/sqlite_store.h"\n',
    "src/api/README.md": "# api\n",
    "src/api/open.cc": '#include "engine/engine.h"\n#include "store/open_store.h"\n',
}

# What is planted: the check that has to find it, the file, and its new text (None: removed).
FAULTS = [
    ("layering", "src/core/rule.cc", '#include "store/store.h"\n'),
    ("layering", "src/core/rule_test.cc", '#include "engine/engine.h"\n'),
    ("layering", "src/store/store.h", '#pragma once\n\n#include "engine/runtime.h"\n'),
    ("layering", "src/store/store.h", '#pragma once\n\n#include "store/sqlite/rows.h"\n'),
    ("layering", "src/store/memory/memory.cc", '#include "store/sqlite/rows.h"\n'),
    ("layering", "src/engine/engine.cc", '#include "store/sqlite/sqlite_store.h"\n'),
    ("layering", "src/engine/engine.cc", '#include "support/rules.h"\n'),
    ("layering", "src/engine/engine.cc", '#include "engine.h"\n'),
    ("layering", "src/api/open.cc", '#include "store/store.h"\n'),
    ("layering", "src/worker/worker.cc", '#include "engine/engine.h"\n'),
    ("layering", "src/other/other.cc", "int other;\n"),
    ("layering", "include/flowfabric/ids.h", '#pragma once\n\n#include "core/rule.h"\n'),
    ("layering", "include/flowfabric/ids.h", "#pragma once\n\n#include <boost/json/value.hpp>\n"),
    ("layering", "include/flowfabric/ids.h", "#pragma once\n\n#include <fmt/format.h>\n"),
    ("layering", "examples/first.cc", '#include "core/rule.h"\n'),
    ("drivers", "src/engine/engine.cc", "#include <sqlite3.h>\n"),
    ("drivers", "src/store/sqlite/sqlite_store.h", "#pragma once\n\n#include <libpq-fe.h>\n"),
    ("drivers", "src/store/store.h", "#pragma once\n\n#include <openssl/evp.h>\n"),
    ("purity", "src/core/rule.cc", "#include <chrono>\n"),
    ("purity", "src/core/rule.cc", "#include <sys/time.h>\n"),
    ("purity", "src/core/rule.cc", "auto now = std::chrono::system_clock::now();\n"),
    ("purity", "src/core/rule.cc", "auto now = time(nullptr);\n"),
    ("purity", "src/core/rule.cc", "static std::mutex guard;\n"),
    ("purity", "src/core/rule.h", '#pragma once\n\ninline void say() { fmt::print("hello"); }\n'),
    ("length", "src/core/rule.cc", "int x;\n" * 601),
    ("leftovers", "src/core/rule.cc", "// TODO: the rest\n"),
    ("leftovers", "src/core/rule.cc", "// Good enough for now.\n"),
    ("leftovers", "docs/more.md", "# More\n\n## The rest\n\nThis is not yet implemented.\n"),
    ("leftovers", "src/core/rule.cc", "// See issue #12.\n"),
    ("leftovers", "src/core/rule_test.cc", "TEST(Rule, one) { GTEST_SKIP(); }\n"),
    ("leftovers", "src/core/rule_test.cc", "TEST(Rule, DISABLED_one) {}\n"),
    ("machine", "src/core/rule.cc", 'auto path = "/home/me/data";\n'),
    ("machine", "scripts/setup", SCRIPT + "cd /work/main\n"),
    ("machine", "scripts/setup", SCRIPT + "curl https:" + "//registry.example.org/package\n"),
    ("pragma_once", "src/core/rule.h", "#ifndef RULE_H\n#define RULE_H\n#endif\n"),
    ("folder_readme", "src/core/README.md", None),
    ("folder_readme", "src/store/sqlite/README.md", None),
    ("folder_readme", "tests/README.md", None),
    ("file_names", "src/core/OtherRule.cc", "int x;\n"),
    ("scripts", "run", None),
    ("scripts", "test", "echo no line that says what runs it\n"),
    ("scripts", ".ci/run", SCRIPT),
    ("readme", "README.md", None),
    ("readme", "README.md", "# A tree\n\nBuild with `./run`.\n"),
    ("whitespace", "src/core/rule.cc", "int x; \n"),
    ("whitespace", "src/core/rule.cc", "\tint x;\n"),
    ("whitespace", "src/core/rule.cc", "int x;\r\n"),
    ("whitespace", "src/core/rule.cc", "int x;"),
    ("whitespace", "docs/more.md", "# More\n\n## The rest\n\n"),
    ("links", "docs/more.md", "# More\n\n## The rest\n\n[gone](gone.md)\n"),
    ("links", "docs/more.md", "# More\n\n## The rest\n\n[gone](../README.md#gone)\n"),
    ("links", "docs/more.md", "# More\n\n## The rest\n\nSee `src/core/gone.cc`.\n"),
    ("links", "docs/more.md", "# More\n\n## The rest\n\nSee `gone.h`.\n"),
]


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="tidy-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in CLEAN.items():
            self.put(name, text)

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod(0o755 if text.startswith("#!") else 0o644)

    def found(self):
        return [(check, name) for check, name, _, _ in tidy.findings(self.root)]

    def test_a_clean_tree_has_no_findings(self):
        self.assertEqual(list(tidy.findings(self.root)), [])

    def test_every_planted_fault_is_found(self):
        for check, name, text in FAULTS:
            with self.subTest(check=check, file=name, text=text and text[:60]):
                if text is None:
                    (self.root / name).unlink()
                else:
                    self.put(name, text)
                self.assertIn((check, name), self.found())
                if name in CLEAN:
                    self.put(name, CLEAN[name])
                else:
                    (self.root / name).unlink()
        self.assertEqual(list(tidy.findings(self.root)), [], "each fault was taken back")

    def test_a_script_without_run_bit_is_found(self):
        self.put("tests/package/check.sh", SCRIPT)
        for name in ("scripts/setup", "tests/package/check.sh"):
            (self.root / name).chmod(0o644)
            self.assertEqual(self.found(), [("scripts", name)])
            (self.root / name).chmod(0o755)

    def test_every_check_has_a_fault(self):
        self.assertEqual({check.__name__ for check in tidy.CHECKS}, {check for check, _, _ in FAULTS})

    def test_a_long_file_is_remarked_upon(self):
        self.put("src/core/rule.cc", "int x;\n" * 500)
        self.assertEqual(self.found(), [])
        self.assertEqual(len(list(tidy.remarks(self.root))), 1)

    def test_the_program_tells_by_its_exit_code(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(tidy.main([str(self.root)]), 0)
            (self.root / "README.md").unlink()
            self.assertEqual(tidy.main([str(self.root)]), 1)
        self.assertIn("README.md:1: [readme] is missing", said.getvalue())


if __name__ == "__main__":
    unittest.main()
