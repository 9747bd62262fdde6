// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Exports: several on one server")
struct SeveralExportsTests {
  private static func export(
    _ root: String, _ regions: Set<String>, but excluded: Set<String> = [],
    travellers: ExportConfiguration.Travellers = .included, periodSeconds: Int = 14_400
  ) -> ExportConfiguration {
    var export = ExportConfiguration(filenameRoot: root, region: "EU", inputRegions: regions)
    export.excludedRegions = excluded
    export.travellers = travellers
    export.periodSeconds = periodSeconds
    (export.minimumKeys, export.paddingRange) = (0, 0)
    return export
  }

  private static func run(
    _ exports: [ExportConfiguration], _ body: (RunningKeyServer) async throws -> Void
  ) async throws {
    try await RunningKeyServer.run(
      {
        $0.regions = ["PL", "CZ", "DE"]
        $0.furtherExports = exports
        ($0.minimumKeys, $0.paddingRange) = (0, 0)
      }, body)
  }

  @Test("An export of two regions contains no keys of a third")
  func twoRegions() async throws {
    try await Self.run([
      Self.export("two", ["PL", "CZ"]), Self.export("one", ["CZ"]),
      Self.export("three", ["PL", "CZ", "DE"]),
    ]) { server in
      let polish = try await server.uploadKeys(regions: ["PL"])
      let czech = try await server.uploadKeys(regions: ["CZ"])
      let german = try await server.uploadKeys(regions: ["DE"])
      try await server.exportPeriod()
      #expect(try await server.allPublished(of: "two").map(\.texts) == [polish.union(czech)])
      #expect(try await server.allPublished(of: "one").map(\.texts) == [czech])
      let all = polish.union(czech).union(german)
      #expect(try await server.allPublished(of: "three").map(\.texts) == [all])
      #expect(try await server.allPublished().map(\.texts) == [polish])
    }
  }

  @Test("Keys of an excluded region are left out, even if they are of an input region too")
  func excluded() async throws {
    try await Self.run([
      Self.export("one", ["PL"], but: ["DE"]), Self.export("two", ["PL"], but: ["DE", "CZ"]),
    ]) { server in
      let polish = try await server.uploadKeys(regions: ["PL"])
      let both = try await server.uploadKeys(regions: ["PL", "DE"])
      let other = try await server.uploadKeys(regions: ["CZ", "PL"])
      try await server.exportPeriod()
      #expect(try await server.allPublished(of: "one").map(\.texts) == [polish.union(other)])
      #expect(try await server.allPublished(of: "two").map(\.texts) == [polish])
      #expect(
        try await server.allPublished().map(\.texts) == [polish.union(both).union(other)])
    }
  }

  @Test("Keys of travellers are treated according to the travellers setting")
  func travellers() async throws {
    try await Self.run(
      ExportConfiguration.Travellers.allCases.map {
        Self.export($0.rawValue, ["PL"], travellers: $0)
      }
    ) { server in
      let resting = try await server.uploadKeys(regions: ["PL"])
      let travelling = try await server.uploadKeys(regions: ["PL"], travels: true)
      let guests = try await server.uploadKeys(regions: ["DE"], travels: true)
      _ = try await server.uploadKeys(regions: ["DE"])
      try await server.exportPeriod()
      let expected: [ExportConfiguration.Travellers: Set<String>] = [
        .included: resting.union(travelling), .only: travelling, .excluded: resting,
        .fromAnywhere: resting.union(travelling).union(guests),
      ]
      for (travellers, keys) in expected {
        let files = try await server.allPublished(of: travellers.rawValue)
        #expect(files.map(\.texts) == [keys], "\(travellers)")
      }
    }
  }

  @Test(
    "An index in Google's format has one relative path per line, oldest first, and no final line feed"
  )
  func googleIndex() async throws {
    try await Self.run([Self.export("v1", ["PL"])]) { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      let start = Int(RunningKeyServer.start.timeIntervalSince1970)
      let names = (0...1).map { "\(start + $0 * 14_400)-\(start + ($0 + 1) * 14_400)-00001.zip" }
      let google = try await server.get("/v1/index.txt")
      #expect(String(decoding: google.body, as: UTF8.self) == "v1/\(names[0])\nv1/\(names[1])")
      let seed = try await server.get("/index.txt")
      #expect(String(decoding: seed.body, as: UTF8.self) == "\(names[0])\n\(names[1])")
      // A static web server can serve the folder in the same way.
      let folder = server.configuration.exportFolder
      #expect(
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("v1/\(names[0])").path)
      )
      for path in ["/v2/index.txt", "/v1/../\(names[0])", "/v1/%2e%2e%2fkeys.sqlite", "/v1/"] {
        #expect(try await server.get(path).status == 404, "\(path)")
      }
    }
  }

  @Test("Exports of a region with different periods contain the same keys and the same padding")
  func periods() async throws {
    var daily = Self.export("daily", ["PL"], periodSeconds: 86_400)
    (daily.minimumKeys, daily.paddingRange) = (200, 10)
    try await RunningKeyServer.run({ $0.furtherExports = [daily] }) { server in
      var sent: Set<String> = []
      for _ in 0..<3 {
        sent.formUnion(try await server.uploadKeys())
        try await server.exportPeriod()
      }
      let often = try await server.allPublished().reduce(into: Set()) { $0.formUnion($1.texts) }
      let seldom = try await server.allPublished(of: "daily").map(\.texts)
      #expect(seldom == [often])
      #expect(often.count >= 200 && often.isSuperset(of: sent))
    }
  }

  @Test("A new export begins with the current period")
  func newExport() async throws {
    let (authority, clock) = (Authority(), ManualClock(RunningKeyServer.start))
    let folder = try TemporaryFolder()
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
    }
    try await RunningKeyServer.run(
      authority: authority, clock: clock, folder: folder,
      { $0.furtherExports = [Self.export("new", ["PL"])] }
    ) { server in
      let sent = try await server.uploadKeys()
      try await server.exportPeriod()
      #expect(
        try await server.allPublished(of: "new").map { $0.texts.isSuperset(of: sent) } == [true])
      #expect(try await server.lines().count == 2)
    }
  }

  @Test("Duplicate roots, roots that are paths, and invalid regions or periods are rejected")
  func badExports() async throws {
    let invalid: [[ExportConfiguration]] = [
      [Self.export("a", ["PL"]), Self.export("a", ["CZ"])], [Self.export("", ["PL"])],
      [Self.export("../a", ["PL"])], [Self.export("a/b", ["PL"])],
      [Self.export(String(repeating: "a", count: 65), ["PL"])], [Self.export("a", [])],
      [Self.export("a", ["pl"])], [Self.export("a", ["PL"], but: ["P"])],
      [Self.export("a", ["PL"], periodSeconds: 7)],
      (0..<100).map { Self.export("a\($0)", ["PL"]) },
    ]
    for exports in invalid {
      await #expect(throws: KeyServerError.self, "\(exports.first?.filenameRoot ?? "")") {
        try await Self.run(exports) { _ in }
      }
    }
    try await Self.run((0..<99).map { Self.export("a\($0)", ["PL"]) }) { _ in }
    try await Self.run([Self.export(String(repeating: "a", count: 64), ["PL"])]) { _ in }
  }
}
