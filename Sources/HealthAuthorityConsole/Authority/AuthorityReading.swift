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
    days = ReadOnce { () throws(AuthorityFailure) in try await Self.days(of: authority) }
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

  /// The counts of the days. They are no condition of a change, and a pause is urgent when servers do not respond, so
  /// the page does not wait long for them.
  private static func days(
    of authority: any AdministeredAuthority
  ) async throws(AuthorityFailure) -> [FunnelDay] {
    let (results, continuation) = AsyncStream<Result<[FunnelDay], AuthorityFailure>>.makeStream()
    let reading = Task {
      let result = await ReadOnce<[FunnelDay]>.result { () throws(AuthorityFailure) in
        try await authority.funnel()
      }
      continuation.yield(result)
    }
    let timeout = Task {
      // It is cancelled when the page has its result.
      try? await Task.sleep(for: .seconds(ConsoleLimit.shownUploadsSecondsMax))
      continuation.yield(.failure(.unavailable))
    }
    defer {
      reading.cancel()
      timeout.cancel()
    }
    for await result in results { return try result.get() }
    throw .unavailable
  }

  /// The key file with a hash and its copies; empty if there is no such file.
  func copies(of file: KeyFileHash) async throws(AuthorityFailure) -> [KeyFileCopy] {
    try await copies.value[file] ?? []
  }
}

/// A value that is read when it is first needed. A failure is kept too.
actor ReadOnce<Value: Sendable> {
  private let read: @Sendable () async throws(AuthorityFailure) -> Value
  private var reading: Task<Result<Value, AuthorityFailure>, Never>?

  init(_ read: @escaping @Sendable () async throws(AuthorityFailure) -> Value) {
    self.read = read
  }

  var value: Value {
    get async throws(AuthorityFailure) {
      let current = started()
      let result = await withTaskCancellationHandler {
        await current.value
      } onCancel: {
        current.cancel()
      }
      return try result.get()
    }
  }

  /// The task that reads. Other callers may come while it runs, and wait for it too.
  private func started() -> Task<Result<Value, AuthorityFailure>, Never> {
    if let reading { return reading }
    let new = Task { [read] in await Self.result(of: read) }
    reading = new
    return new
  }

  static func result(
    of read: @Sendable () async throws(AuthorityFailure) -> Value
  ) async -> Result<Value, AuthorityFailure> {
    do throws(AuthorityFailure) { return .success(try await read()) } catch {
      return .failure(error)
    }
  }
}
