import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("The description of the key server")
struct DescriptionTests {
  private static func withTravellers(_ configuration: inout KeyServerConfiguration) {
    configuration.furtherExports = [ExportConfiguration(filenameRoot: "v1-eu", region: "PL")]
  }

  @Test("Every route that is registered is described, and no other")
  func routes() async throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    Self.withTravellers(&configuration)
    let rooms = try KeyServerRooms(
      configuration, clock: TestClock(RunningKeyServer.start), randomness: SystemRandomness(),
      logger: Logger(label: "test"))
    let registered = rooms.router.routes.filter { $0.method != .head }
      .map { "\($0.method.rawValue) \($0.path)" }
    try await RunningKeyServer.run(Self.withTravellers) { server in
      let page = try await server.get("/openapi.json")
      let description = try #require(ServerDescription(page.body))
      #expect(description.routes == Set(registered))
      #expect(registered.count == 10)
    }
  }

  @Test("Downloads answer with the statuses and content types that /openapi.json says")
  func downloads() async throws {
    try await RunningKeyServer.run(Self.withTravellers) { server in
      let page = try await server.get("/openapi.json")
      let description = try #require(ServerDescription(page.body))
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      for root in ["", "v1-eu"] {
        let line = try #require(try await server.lines(of: root).first)
        let file = KeyServerRoute.keyFile("{name}", of: root)
        for (path, asked) in [
          (KeyServerRoute.index(of: root), KeyServerRoute.index(of: root)), (file, "/" + line),
          (file, KeyServerRoute.keyFile("1-2-00001.zip", of: root)),
          (KeyServerRoute.remoteConfiguration, KeyServerRoute.remoteConfiguration),
        ] {
          let answer = try await server.get(asked)
          let type = answer.headers["content-type"]?.prefix { $0 != ";" }
          let described = description.contentTypes(status: Int(answer.status), path: path)
          #expect(described == type.map { [String($0)] }, "\(asked)")
          guard let tag = answer.headers["etag"] else { continue }
          let again = try await server.get(asked, headers: [("If-None-Match", tag)])
          #expect(again.status == 304 && again.body.isEmpty)
          #expect(description.contentTypes(status: 304, path: path) == [])
        }
      }
      let configuration = try await server.get(KeyServerRoute.remoteConfiguration)
      #expect(
        description.faults(
          inAnswer: configuration.body, status: 200, method: "get",
          path: KeyServerRoute.remoteConfiguration
        ).isEmpty)
      let get = try await server.get(KeyServerRoute.publish)
      #expect(
        description.faults(
          inAnswer: get.body, status: Int(get.status), method: "get", path: KeyServerRoute.publish
        ).isEmpty)
    }
  }

  @Test("Questions and answers of every POST are as /openapi.json says")
  func answers() async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      let page = try await server.get("/openapi.json")
      let description = try #require(ServerDescription(page.body))
      #expect(
        description.routes.isSuperset(of: [
          "POST \(KeyServerRoute.upload)", "POST \(KeyServerRoute.publish)",
          "POST \(KeyServerRoute.statistics)", "GET /openapi.json",
        ]))
      let keys = scene.keys(2)
      var far = keys
      far[0].rollingPeriod = 0
      let good = try scene.request(keys)
      #expect(
        description.faults(inQuestion: try JSONEncoder().encode(good), path: KeyServerRoute.publish)
          .isEmpty)
      for request in [
        good, try scene.request(far), try scene.request(scene.keys(1)) { $0.hmacKey = nil },
        try scene.request(keys), try scene.request([]),
      ] {
        let answer = try await scene.publish(request)
        #expect(
          description.faults(
            inAnswer: answer.http.body, status: Int(answer.status), path: KeyServerRoute.publish
          )
          .isEmpty)
      }
      let upload = try await server.request(server.keys())
      #expect(
        description.faults(
          inQuestion: try JSONEncoder().encode(upload), path: KeyServerRoute.upload
        ).isEmpty)
      for request in [upload, try await server.request([])] {
        let answer = try await server.upload(request)
        #expect(
          description.faults(
            inAnswer: answer.body, status: Int(answer.status), path: KeyServerRoute.upload
          ).isEmpty)
      }
      let refused = try await server.post(Data("{}".utf8), to: KeyServerRoute.statistics)
      #expect(
        description.faults(
          inAnswer: refused.body, status: Int(refused.status), path: KeyServerRoute.statistics
        ).isEmpty)
    }
  }
}
