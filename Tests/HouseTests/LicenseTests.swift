// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("License")
struct LicenseTests {
  @Test("Each source and each script states its license")
  func files() {
    let files = Project.paths.compactMap { path in Project.text(path).map { (path, $0) } }
    #expect(files.count { LicenseRule.applies(to: $0, text: $1) } > 800)
    record(files.compactMap { LicenseRule.violation(inFile: $0, text: $1) })
  }

  @Test(
    "A missing or wrong license is found, with its line",
    arguments: [
      ("A.swift", "import A\n", 1), ("A.swift", "", 1),
      ("A.swift", "\n// SPDX-License-Identifier: Apache-2.0\n", 1),
      ("A.c", "// SPDX-License-Identifier: MIT\n", 1),
      ("Package.swift", "// swift-tools-version:6.2\nimport A\n", 2),
      ("scripts/a", "#!/bin/sh\n# Prints nothing.\n", 2), ("folder/a", "#!/bin/sh\n", 2),
    ])
  func missing(path: String, text: String, line: Int) {
    #expect(LicenseRule.violation(inFile: path, text: text)?.line == line)
  }

  @Test(
    "A license in the form of each language is accepted, and other files need none",
    arguments: [
      ("A.swift", "// SPDX-License-Identifier: Apache-2.0\nimport A\n"),
      ("A.css", "/* SPDX-License-Identifier: Apache-2.0 */\n"),
      ("a.py", "# SPDX-License-Identifier: Apache-2.0\n"),
      ("Package.swift", "// swift-tools-version:6.2\n// SPDX-License-Identifier: Apache-2.0\n"),
      ("scripts/a", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"),
      ("A.pb.swift", "import A\n"), ("A.md", "# A\n"), ("A.json", "{}"), ("LICENSE", "Apache"),
    ])
  func accepted(path: String, text: String) {
    #expect(LicenseRule.violation(inFile: path, text: text) == nil)
  }
}
