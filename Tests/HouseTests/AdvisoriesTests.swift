// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/advisories", .needs(.process))
struct AdvisoriesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let sbom = """
      {"packages": [{"name": "swift-nio", "versionInfo": "2.101.2"},
       {"name": "swift-log", "versionInfo": "1.16"},
       {"name": "GRDB.swift", "versionInfo": "7.5.0-beta.2"},
       {"name": "debian-libc6", "versionInfo": "2.41-12+deb13u2"},
       {"name": "debian-libssl1.1", "versionInfo": "1.1.1n-0+deb11u5"},
       {"name": "debian-libxml2", "versionInfo": "2.9.14+dfsg-1.3~deb12u2"},
       {"name": "debian-zlib1g", "versionInfo": "1:1.2.13.dfsg-1"}]}
      """
    try Data(sbom.utf8).write(to: folder.path("sbom.json"))
    for (name, text) in [
      ("empty.json", #"{"packages": []}"#),
      ("unversioned.json", #"{"packages": [{"name": "swift-nio", "versionInfo": null}]}"#),
    ] {
      try Data(text.utf8).write(to: folder.path(name))
    }
  }

  private func run(_ advisories: String, sbom: String = "sbom.json") async throws
    -> ChildProcess.Result
  {
    try Data(advisories.utf8).write(to: folder.path("advisories.txt"))
    return try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"),
      [
        "python3", SharedData.projectRoot.appendingPathComponent("scripts/advisories").path,
        folder.path(sbom).path, folder.path("advisories.txt").path,
      ])
  }

  @Test(
    "A version below the first that is not affected is listed; one that is equal or newer is not",
    arguments: [
      ("swift-nio 2.101.3 CVE-1 a text", true), ("swift-nio 2.101.2 CVE-1 a text", false),
      ("swift-nio 2.101.10 CVE-1 a text", true), ("swift-nio 2.99.0 CVE-1 a text", false),
      ("swift-log 1.16.0 CVE-1 a text", false), ("swift-log 1.16.1 CVE-1 a text", true),
      ("swift-other 9 CVE-1 a text", false), ("# swift-nio 9 CVE-1 a text", false),
      ("Swift-NIO 2.101.3 CVE-1 a text", true), ("swift-nio 2.101.2+build.7 CVE-1 a text", false),
      ("swift-nio 2.101.2-rc.1 CVE-1 a text", false), ("swift-nio 2.101.3-rc.1 CVE-1 a text", true),
      ("grdb.swift 7.5.0 CVE-1 a text", true), ("grdb.swift 7.5.0-beta.10 CVE-1 a text", true),
      ("grdb.swift 7.5.0-beta.2 CVE-1 a text", false),
      ("grdb.swift 7.5.0-alpha CVE-1 a text", false),
      ("debian-libc6 2.41-12+deb13u3 CVE-1 a text", true),
      ("debian-libc6 2.41-12+deb13u2 CVE-1 a text", false),
      ("debian-libssl1.1 1.1.1w-0+deb11u1 CVE-1 a text", true),
      ("debian-libssl1.1 1.1.1k-1+deb11u9 CVE-1 a text", false),
      ("debian-libxml2 2.9.14+dfsg-1.3 CVE-1 a text", true),
      ("debian-libxml2 2.9.14+dfsg-1.3~deb12u1 CVE-1 a text", false),
      ("debian-zlib1g 1:1.2.13.dfsg-2 CVE-1 a text", true),
      ("debian-zlib1g 1.3 CVE-1 a text", false),
    ])
  func compared(line: String, isAffected: Bool) async throws {
    let result = try await run("# comment\n\n\(line)\n")
    #expect(result.status == (isAffected ? 1 : 0), "\(result.errors)")
    #expect(result.output.contains("is affected") == isAffected)
    if isAffected { #expect(result.output.hasSuffix(": CVE-1 a text\n")) }
  }

  @Test("A line without a version, and files that cannot be read, are named in one line")
  func refused() async throws {
    for (advisories, sbom, fault) in [
      ("swift-nio 2.0\n", "sbom.json", "line 1: name, version and text"),
      ("swift-nio new CVE-1 text\n", "sbom.json", "line 1: name, version and text"),
      ("debian-libc6 new CVE-1 text\n", "sbom.json", "line 1: name, version and text"),
      ("", "missing.json", "is not an SBOM"),
      ("", "advisories.txt", "is not an SBOM"), ("", "empty.json", "is not an SBOM"),
      ("", "unversioned.json", "is not an SBOM"),
    ] {
      let result = try await run(advisories, sbom: sbom)
      #expect(result.status == 2 && result.errors.contains(fault), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1)
    }
  }
}
