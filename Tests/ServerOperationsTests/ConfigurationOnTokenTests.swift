// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Logging
import Secrets
import Settings
import Synchronization
import TestSupport
import Testing
import World

@testable import ServerOperations

@Suite("A remote configuration that a key on a token signs")
struct ConfigurationOnTokenTests {
  /// A key that may be away. It records whether the lock on a folder was free when it signed.
  private final class Token: P256Signer {
    private struct Away: Error, CustomStringConvertible {
      let description = "The token export is not present."
    }

    private let key = P256.Signing.PrivateKey()
    private let folder: URL
    private let state = Mutex((isAway: false, wasFree: [Bool]()))

    var publicKey: P256.Signing.PublicKey { key.publicKey }
    var mayBlock: Bool { true }
    var wasFree: [Bool] { state.withLock { $0.wasFree } }

    init(folder: URL) { self.folder = folder }

    func goAway() { state.withLock { $0.isAway = true } }

    func signature(for digest: SHA256Digest) throws -> P256.Signing.ECDSASignature {
      let isFree = try FolderLock.hold(on: folder) != nil
      let isAway = state.withLock { state in
        state.wasFree.append(isFree)
        return state.isAway
      }
      if isAway { throw Away() }
      return try key.signature(for: digest)
    }

    func checkAvailability() {}
  }

  private let folder: TemporaryFolder
  private let token: Token
  private let authority: FolderAuthority

  init() async throws {
    folder = try TemporaryFolder()
    let setup = ServerSetup(folder: try ServerFolder(path: folder.path("data").path)) { _ in }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    try await setup.prepareConsole(hasVerification: true, logger: logger)
    _ = try setup.verificationServer(host: "127.0.0.1", port: 0, logger: logger)
    _ = try setup.keyServer(logger: logger)
    token = Token(folder: setup.folder.keys)
    var settings = try setup.keySettings().configuration
    settings.databaseFile = folder.path("token.sqlite")
    settings.databaseKey = Data(repeating: 1, count: 32)
    settings.exportFolder = folder.path("token-exports")
    settings.tokenPublicKeysPEM = try setup.folder.tokenPublicKeys.read()
    settings.exportSigners = [ExportSigner(key: token, keyID: "260", keyVersion: "v1")]
    authority = FolderAuthority(
      setup: setup,
      codes: CodeSource(
        server: nil, host: "127.0.0.1", localKey: nil, remote: nil, remoteKey: nil,
        responseSeconds: Int64(Patience.seconds)),
      keyServer: try KeyServer(
        settings, clock: SystemClock(), randomness: SystemRandomness(), logger: logger),
      host: "127.0.0.1", files: ExportFiles())
  }

  @Test("The key signs without the lock on the folder, and the cause of a failure is shown")
  func replaced() async throws {
    var configuration = try await authority.remoteConfiguration()
    configuration.version += 1
    try await authority.replace(configuration, ifInForce: configuration.version - 1)
    #expect(token.wasFree == [true])
    await #expect(throws: AuthorityFailure.changed) {
      try await authority.replace(configuration, ifInForce: configuration.version - 1)
    }
    token.goAway()
    var next = configuration
    next.version += 1
    await #expect(throws: AuthorityFailure.refused("The token export is not present.")) {
      try await authority.replace(next, ifInForce: configuration.version)
    }
    #expect(try await authority.remoteConfiguration() == configuration)
  }

  /// A root key on a token, during whose first signature something happens.
  private struct TokenRootKey: P256Signer {
    let token: Token
    let first: @Sendable () throws -> Void

    var publicKey: P256.Signing.PublicKey { token.publicKey }
    var mayBlock: Bool { true }

    func signature(for digest: SHA256Digest) throws -> P256.Signing.ECDSASignature {
      let signature = try token.signature(for: digest)
      if token.wasFree.count == 1 { try first() }
      return signature
    }

    func checkAvailability() {}
  }

  @Test("A root key signs without the lock, and once more if the keys were changed meanwhile")
  func rootKey() throws {
    let (setup, files) = (authority.setup, authority.setup.deviceConfiguration)
    let root = TokenRootKey(token: token) {
      try setup.folder.keySecrets.withLock {
        var secrets = try #require(try KeySecrets.stored(in: setup.folder))
        let keyID = try #require(secrets.signingKeys.last).keyID
        secrets.signingKeys.append(SecretSigningKey(keyID: keyID, keyVersion: "v2", validFrom: nil))
        try setup.folder.keySecrets.replace(secrets)
      }
    }
    var drafts = 0
    let keys = try files.sign(onToken: true) {
      drafts += 1
      let keys = try KeySecrets.stored(in: setup.folder)?.signingKeys ?? []
      let next = try files.draft(keys, rootKey: nil)
      return .init(document: next.document, root: RootPrivateKey(root))
    } store: { _, draft in
      draft.document.keys.count
    }
    #expect(keys == 2)
    #expect(drafts == 2)
    #expect(token.wasFree == [true, true])
  }
}
