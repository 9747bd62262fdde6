// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

@Suite("Uploads of a canary")
struct CanaryUploadTests {
  private func run(
    _ change: (inout KeyServerConfiguration) -> Void = { _ in },
    _ body: (RunningKeyServer) async throws -> Void
  ) async throws {
    try await RunningKeyServer.run({
      $0.acceptsCanary = true
      change(&$0)
    }) { try await body($0) }
  }

  /// An upload with the token of a canary or of a patient, for the canary's app and region or for those of phones.
  private func upload(
    canaryToken: Bool, canaryApp: Bool, travels: Bool = false, to server: RunningKeyServer
  ) async throws -> ReceivedResponse {
    let token = try await server.authority.token(at: server.clock.now, isCanary: canaryToken)
    let request = try await server.request(server.keys(3), token: token) { request in
      request.isInteroperabilityEnabled = travels
      guard canaryApp else { return }
      request.data.appPackageName = CanaryUploads.app
      request.data.regions = [CanaryUploads.region]
    }
    return try await server.upload(request)
  }

  @Test(
    "A token of a canary is accepted for the canary's app only, and that of a patient for others only"
  )
  func bound() async throws {
    try await run { server in
      for (canaryToken, canaryApp) in [(true, false), (false, true)] {
        let refused = try await upload(canaryToken: canaryToken, canaryApp: canaryApp, to: server)
        #expect((refused.status, refused.errorStatus) == (403, "PERMISSION_DENIED"))
      }
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 0)
      #expect(try await upload(canaryToken: true, canaryApp: true, to: server).status == 200)
      #expect(try server.count("SELECT count(*) FROM statistic") == 0)
      #expect(try await upload(canaryToken: false, canaryApp: false, to: server).status == 200)
      #expect(try server.count("SELECT count(*) FROM statistic") > 0)
    }
  }

  @Test("A token of a canary does not upload for another region, and its keys do not travel")
  func region() async throws {
    try await run { server in
      let token = try await server.authority.token(at: server.clock.now, isCanary: true)
      let request = try await server.request(server.keys(3), token: token) { request in
        request.data.appPackageName = CanaryUploads.app
      }
      #expect(try await server.upload(request).status == 403)
      let traveler = try await upload(
        canaryToken: true, canaryApp: true, travels: true, to: server)
      #expect(traveler.status == 200)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 3)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key WHERE travels") == 0)
    }
  }

  @Test("A key server without a canary refuses its tokens for every app")
  func off() async throws {
    try await run({ $0.acceptsCanary = false }) { server in
      for canaryApp in [true, false] {
        let response = try await upload(canaryToken: true, canaryApp: canaryApp, to: server)
        #expect(response.status == 403)
      }
    }
  }

  @Test("Google's contract, whose certificates have no mark, does not know the canary's app")
  func publish() async throws {
    try await run { server in
      let scene = PublishScene(server: server)
      let keys = scene.keys(3)
      let refused = try await scene.publish(
        scene.request(keys) { $0.healthAuthorityID = CanaryUploads.app })
      #expect(refused.code == .unknownHealthAuthorityID)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 0)
    }
  }
}
