import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite(.enabled(if: SmallDisk.isAvailable, Comment(rawValue: SmallDisk.absence)))
struct DiskFullTests {
  @Test(
    "On a full disk an upload is 503 and kept not even in part; with room again it goes through")
  func uploadOnFullDisk() async throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    try await RunningKeyServer.run({
      $0.databaseFile = disk.url.appendingPathComponent("keys.sqlite")
    }) {
      server in
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      let ballast = disk.fill()
      // The log may have a little room left in its last page: go on until the disk says no.
      var refused: (request: UploadRequest, answer: Answer)?
      var taken = 1
      for _ in 0..<40 where refused == nil {
        let request = try await server.request(server.keys())
        let answer = try await server.upload(request)
        if answer.status == 200 { taken += 1 } else { refused = (request, answer) }
      }
      let (request, answer) = try #require(refused)
      #expect((answer.status, answer.errorStatus) == (503, "UNAVAILABLE"))
      #expect(answer.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
      try FileManager.default.removeItem(at: ballast)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == taken * 14)
      #expect(try server.count("SELECT count(*) FROM upload") == taken)
      #expect(try await server.upload(request).status == 200)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == (taken + 1) * 14)
    }
  }

  @Test(
    "On a full disk a publish is 503 internal_error, and with room again its certificate is still good"
  )
  func publishOnFullDisk() async throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    try await RunningKeyServer.run({
      $0.databaseFile = disk.url.appendingPathComponent("keys.sqlite")
      $0.uploadAttempts = 2
    }) { server in
      let scene = PublishScene(server: server)
      #expect(try await scene.publish(scene.request(scene.keys())).status == 200)
      let ballast = disk.fill()
      var refused: (request: PublishRequest, answer: Published)?
      var taken = 1
      for _ in 0..<40 where refused == nil {
        let request = try scene.request(scene.keys())
        let answer = try await scene.publish(request)
        if answer.status == 200 { taken += 1 } else { refused = (request, answer) }
      }
      let (request, answer) = try #require(refused)
      #expect((answer.status, answer.code) == (503, .internalError))
      #expect(answer.http.headers["retry-after"] == "30")
      for _ in 0..<3 { #expect(try await scene.publish(request).status == 503) }
      try FileManager.default.removeItem(at: ballast)
      #expect(try server.count("SELECT count(*) FROM upload") == taken)
      let again = try await scene.publish(request)
      #expect((again.status, again.body.insertedExposures) == (200, 14))
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == (taken + 1) * 14)
    }
  }

  @Test(
    "An export on a full disk leaves no file and no line in the index, and heals with room again")
  func exportOnFullDisk() async throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    try await RunningKeyServer.run({
      $0.exportFolder = disk.url.appendingPathComponent("export")
      $0.minimumKeys = 2_000
    }) { server in
      try await server.upload(server.request(server.keys()))
      let ballast = disk.fill()
      server.clock.advance(by: 14_400)
      await #expect(throws: KeyServerError.unavailable) { try await server.server.exportDue() }
      #expect(try await server.listed().isEmpty)
      let left = try FileManager.default.contentsOfDirectory(
        atPath: server.configuration.exportFolder.path)
      #expect(left.filter { $0 != "index.txt" }.isEmpty)
      #expect(try server.count("SELECT count(*) FROM export_file") == 1)
      try FileManager.default.removeItem(at: ballast)
      try await server.server.exportDue()
      let names = try await server.listed()
      #expect(names.count == 1)
      #expect(try await server.downloadedKeys(try #require(names.first)).keys.count >= 2_000)
    }
  }
}
