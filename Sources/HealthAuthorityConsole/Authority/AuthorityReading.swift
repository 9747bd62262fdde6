// SPDX-License-Identifier: Apache-2.0
import KeyServerAPI

/// The facts about an authority for one page. Each is read when it is first needed, and only once, however many rows
/// of the page show it.
struct AuthorityReading: Sendable {
  let apiKeys: ReadOnce<[APIKeyFacts]>
  let authorities: ReadOnce<[AuthorityFacts]>
  let apps: ReadOnce<[AppFacts]>
  let exports: ReadOnce<[ExportFacts]>
  let instructions: ReadOnce<PhoneInstructions>
  let days: ReadOnce<[FunnelDay]>
  private let signingKeys: [SigningServer: ReadOnce<[SigningKeyFacts]>]
  private let copies: ReadOnce<[KeyFileHash: [KeyFileCopy]]>

  /// - Parameter files: The key files whose copies the page shows.
  init(_ authority: any AdministeredAuthority, files: Set<KeyFileHash>) {
    apiKeys = ReadOnce { () throws(AuthorityFailure) in try await authority.apiKeys() }
    authorities = ReadOnce { () throws(AuthorityFailure) in try await authority.authorities() }
    apps = ReadOnce { () throws(AuthorityFailure) in try await authority.apps() }
    exports = ReadOnce { () throws(AuthorityFailure) in try await authority.exports() }
    instructions = ReadOnce { () throws(AuthorityFailure) in try await authority.instructions() }
    days = ReadOnce { () throws(AuthorityFailure) in try await authority.funnel() }
    let servers = SigningServer.allCases.map { server in
      (
        server,
        ReadOnce { () throws(AuthorityFailure) in try await authority.signingKeys(of: server) }
      )
    }
    signingKeys = Dictionary(servers) { $1 }
    copies = ReadOnce { () throws(AuthorityFailure) in
      try await authority.copies(ofEach: files)
    }
  }

  /// The signing keys of a server.
  func signingKeys(of server: SigningServer) async throws(AuthorityFailure) -> [SigningKeyFacts] {
    try await signingKeys[server]?.value ?? []
  }

  /// The key file with a hash and its copies; empty if there is no such file.
  func copies(of file: KeyFileHash) async throws(AuthorityFailure) -> [KeyFileCopy] {
    try await copies.value[file] ?? []
  }
}

/// A value that is read when it is first needed. A failure is kept too.
actor ReadOnce<Value: Sendable> {
  private let read: @Sendable () async throws(AuthorityFailure) -> Value
  private var result: Result<Value, AuthorityFailure>?

  init(_ read: @escaping @Sendable () async throws(AuthorityFailure) -> Value) {
    self.read = read
  }

  var value: Value {
    get async throws(AuthorityFailure) {
      if let result { return try result.get() }
      let new: Result<Value, AuthorityFailure>
      do throws(AuthorityFailure) { new = .success(try await read()) } catch {
        new = .failure(error)
      }
      result = new
      return try new.get()
    }
  }
}
