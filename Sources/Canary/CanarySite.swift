// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import KeyServer
import KeyServerAPI
import Secrets
import VerificationAPI

/// The servers that a canary probes, and its rights there.
package struct CanarySite: Sendable, Redacted {

  let verificationServer: URL
  let keyServer: URL
  /// The API key of kind `canary`, whose codes are not counted.
  let apiKey: String
  let rootKey: RootKey
  /// `android` or `ios`; uploads of `ios` need a device check, which a canary does not pass.
  let platform: String

  package init(
    verificationServer: URL, keyServer: URL, apiKey: String, rootKey: RootKey,
    platform: String = "android"
  ) {
    self.verificationServer = verificationServer
    self.keyServer = keyServer
    self.apiKey = apiKey
    self.rootKey = rootKey
    self.platform = platform
  }

  package var description: String { "CanarySite(\(keyServer))" }

  /// A new PIN, issued over the API of the health authority's systems.
  func issueCode(over network: any Network) async throws -> String {
    var request = IssueRequest(testType: "confirmed")
    request.codeForm = "pin"
    let response = try await network.send(
      NetworkRequest(
        verificationServer.appendingPathComponent(VerificationRoute.issue),
        body: try JSONEncoder().encode(request),
        headers: [VerificationRoute.apiKeyHeader: apiKey]))
    guard response.status == 200 else { throw CanaryRefusal(status: response.status) }
    return try JSONDecoder().decode(IssueResponse.self, from: response.body).code
  }
}

/// The verification server did not issue a code.
struct CanaryRefusal: Error, CustomStringConvertible {
  let status: Int

  var description: String { "the verification server returned status \(status)" }
}

/// The network of the canary's phones: the paths of the public export lead to that of the canary.
struct CanaryNetwork: Network {
  private let network: any Network
  private let keyServer: URL

  init(_ network: any Network, keyServer: URL) {
    self.network = network
    self.keyServer = keyServer
  }

  var connection: NetworkConnection { get async { await network.connection } }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    guard request.url == keyServer.appendingPathComponent(KeyServerRoute.index) else {
      return try await network.send(request)
    }
    var own = request
    own.url = keyServer.appendingPathComponent(KeyServerRoute.index(of: CanaryUploads.exportRoot))
    var response = try await network.send(own)
    let lines = String(decoding: response.body, as: UTF8.self)
    response.body = Data(lines.replacing("\(CanaryUploads.exportRoot)/", with: "").utf8)
    return response
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    let path = KeyServerRoute.keyFile(
      request.url.lastPathComponent, of: CanaryUploads.exportRoot)
    var own = request
    own.url = keyServer.appendingPathComponent(path)
    return try await network.download(own, to: file)
  }
}
