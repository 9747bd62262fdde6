import CallableEnvelope
import ExposureApp
import Foundation
import VerificationAPI

/// The official who has a positive test in hand and issues a PIN for it over the authenticated route.
public struct Official: Sendable {
  private let server: URL
  private let apiToken: String
  private let network: any Network

  init(server: URL, apiToken: String, network: any Network) {
    self.server = server
    self.apiToken = apiToken
    self.network = network
  }

  /// A new PIN for a confirmed test.
  ///
  /// - Throws: `OfficialRefusal` with the status where the server says no, or `NetworkFailure`.
  public func issueCode() async throws -> String {
    try await issueCode(as: apiToken)
  }

  /// Asks with another token than the official's; a server that answers has a hole.
  ///
  /// - Throws: as `issueCode()`.
  public func issueCode(as token: String) async throws -> String {
    let body = try JSONEncoder().encode(
      CallableRequest(data: GenerateCodeRequest(testType: "confirmed")))
    let answer = try await network.send(
      NetworkRequest(
        server.appendingPathComponent(VerificationRoute.generateCode), body: body,
        headers: [VerificationRoute.apiTokenHeader: token]))
    guard answer.status == 200 else { throw OfficialRefusal(status: answer.status) }
    return try JSONDecoder().decode(CallableAnswer<String>.self, from: answer.body).result
  }
}
