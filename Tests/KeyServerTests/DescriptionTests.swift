import Foundation
import KeyServerAPI
import TestSupport
import Testing

@Suite("The description of the key server")
struct DescriptionTests {
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
