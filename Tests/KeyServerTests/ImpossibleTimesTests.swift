// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import UploadToken

/// Tokens that were signed by a key that the server trusts, with numbers that arithmetic could not take.
@Suite("Signed tokens with impossible numbers")
struct ImpossibleTimesTests {
  private struct Claims: Encodable {
    var iss = "codes"
    var aud = "keys"
    var iat: Int64
    var nbf: Int64
    var exp: Int64
    var jti = UUID().uuidString
    var reportType = "confirmed"
    var symptomOnsetInterval: UInt64?
    var tekmac: String?
  }

  private static let extremes: [Int64] = [
    .min, .min + 1, -1, 253_402_300_800, 1 << 53, .max - 1, .max,
  ]

  /// Claims of a token at `now`, each with one impossible number.
  private func impossible(at now: Date, tekmac: String?) -> [Claims] {
    let second = Int64(now.timeIntervalSince1970)
    let good = Claims(iat: second, nbf: second, exp: second + 900, tekmac: tekmac)
    let times = Self.extremes.flatMap { extreme in
      [\Claims.iat, \.nbf, \.exp].map { path in
        var claims = good
        claims[keyPath: path] = extreme
        return claims
      }
    }
    let onsets = [UInt64(UInt32.max) + 1, .max].map { onset in
      var claims = good
      claims.symptomOnsetInterval = onset
      return claims
    }
    return times + onsets
  }

  @Test("An upload with such a token gets 401, and the server keeps running")
  func uploads() async throws {
    try await RunningKeyServer.run { server in
      let key = try SigningKey(
        keyID: "t1", privateKeyPEM: server.authority.tokenKey.pemRepresentation)
      for claims in impossible(at: server.clock.now, tekmac: nil) {
        let token = try CompactToken.text(claims, signedBy: key)
        #expect(try await server.upload(server.request(server.keys(), token: token)).status == 401)
      }
      #expect(try await server.upload(server.request(server.keys())).status == 200)
    }
  }

  @Test("A publish request with such a certificate gets 401, and the server keeps running")
  func certificates() async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      let key = try SigningKey(
        keyID: "t1", privateKeyPEM: server.authority.tokenKey.pemRepresentation)
      let keys = scene.keys(2)
      let hmac = KeyHMAC.authenticationCode(over: keys.map(UploadedKey.init), secret: scene.secret)
      for claims in impossible(at: server.clock.now, tekmac: hmac.base64EncodedString()) {
        let text = try CompactToken.text(claims, signedBy: key)
        let response = try await scene.publish(scene.request(keys, certificate: text))
        #expect(response.status == 401)
      }
      #expect(try await scene.publish(scene.request(keys)).status == 200)
    }
  }
}
