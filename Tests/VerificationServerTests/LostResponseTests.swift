// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// Both servers with one clock; the phone loses responses and retries late.
@Suite("Lost responses of both servers")
struct LostResponseTests {
  /// A key server that trusts `server`, requested over HTTP.
  private func withKeyServer(
    of server: RunningServer, in folder: TemporaryFolder,
    _ test: (_ publish: (PublishRequest) async throws -> RunningServer.Response) async throws ->
      Void
  ) async throws {
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder.path("keys.sqlite"), databaseKey: Data(repeating: 7, count: 32),
      exportFolder: folder.path("export"),
      regions: ["PL"], appPackages: ["app.example"], tokenIssuer: "verification",
      tokenAudience: "keys", tokenPublicKeysPEM: ["v1": server.signingKeyPEM],
      exportSigners: [
        ExportSigner(
          privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260",
          keyVersion: "v1")
      ], region: "PL", deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    configuration.deviceVerificationPlatforms = []
    let keyServer = try KeyServer(
      configuration, clock: server.clock, randomness: SystemRandomness(), logger: server.log.logger)
    let run = Task { try await keyServer.run() }
    defer { run.cancel() }
    let port = await keyServer.boundPort
    try await test { request in
      let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
      return try await server.post(KeyServerRoute.publish, body, port: port)
    }
    run.cancel()
    _ = await run.result
  }

  @Test(
    "Retries of code, token, certificate and upload after lost responses publish the keys once",
    arguments: [TimeInterval(60), 3_600, 86_399])
  func hoursLater(seconds: TimeInterval) async throws {
    let folder = try TemporaryFolder()
    try await RunningServer.run(in: folder.url) { server async throws in
      let today = Int32(server.clock.now.timeIntervalSince1970 / 86_400) * 144
      let keys = (1...3).map { day in
        PublishKey(
          key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
          rollingStartNumber: today - Int32(day) * 144, transmissionRisk: 4)
      }
      let secret = Data(SystemRandomness().bytes(16))
      let code = KeyHMAC.authenticationCode(over: keys.map(UploadedKey.init), secret: secret)
      let token = try await server.verified(
        try await server.issue(#"{"testType":"likely","symptomDate":"2027-01-10"}"#).code
      ).token
      func request() async throws -> PublishRequest {
        let response = try await server.certify(token, keyHMAC: code)
        let certificate = try JSONDecoder().decode(CertificateResponse.self, from: response.body)
        return PublishRequest(
          temporaryExposureKeys: keys, healthAuthorityID: "app.example",
          verificationPayload: certificate.certificate, hmacKey: secret.base64EncodedString(),
          padding: "AAAA")
      }
      try await withKeyServer(of: server, in: folder) { publish in
        let first = try await publish(request())
        server.clock.advance(by: seconds)
        let again = try await publish(request())
        #expect((first.status, again.status) == (200, 200))
        let responses = try [first, again].map {
          try JSONDecoder().decode(PublishResponse.self, from: $0.body)
        }
        #expect(responses[0] == responses[1])
        #expect(responses[0].insertedExposures == 3)
        // The same certificate with the new revision token is another upload, and is rejected.
        var other = try await request()
        other.revisionToken = responses[0].revisionToken
        #expect(try await publish(other).status == 401)
      }
    }
  }
}
