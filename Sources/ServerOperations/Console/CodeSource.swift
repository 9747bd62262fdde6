// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import Secrets
import VerificationServer

/// Creates clients of the verification server: of the server of this process, or of a remote one.
struct CodeSource: Redacted, Sendable {
  let server: VerificationServer?
  /// The address that the servers of this process listen on.
  let host: String
  /// The host that requests name, if `server` listens for that of a realm; nil for its own.
  var realmHost: String?
  let localKey: String?
  let remote: URL?
  let remoteKey: String?
  /// The timeout of a response, in seconds; nil for the console's default.
  var responseSeconds: Int64?

  /// The client; waits until the server listens.
  ///
  /// - Throws: `AuthorityFailure.notOffered` if there is no server.
  func client() async throws(AuthorityFailure) -> CodeClient {
    if let remote, let remoteKey,
      let client = CodeClient(
        server: remote, apiKey: remoteKey, responseSeconds: responseSeconds)
    {
      return client
    }
    if let server, let localKey,
      let url = FolderAuthority.url(host: host, port: await server.boundPort),
      let client = CodeClient(
        server: url, named: realmHost, apiKey: localKey, isOwnProcess: true,
        responseSeconds: responseSeconds)
    {
      return client
    }
    throw .notOffered(
      "No verification server is known: set verificationURL and apiKeyFile in"
        + " console/settings.json, then restart the console.")
  }
}
