// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Apple's proof that requests come from a genuine installation of an app, on Linux.
///
/// The program installs an `AppAttestSource`. Without one the service is not supported, like on Apple's simulator.
// Its state is behind a mutex; the class has no other.
open class DCAppAttestService: NSObject, @unchecked Sendable {
  private static let processService = DCAppAttestService()

  private let source = Mutex<(any AppAttestSource)?>(nil)

  /// A separate service, for a program with several devices.
  package override init() {}

  /// The service of this process.
  open class var shared: DCAppAttestService { processService }

  /// True if the calls can succeed.
  open var isSupported: Bool { source.withLock { $0 != nil } }

  /// Creates a key and returns its identifier.
  ///
  /// - Throws: `DCError`: `.featureUnsupported` without a source, the source's own `DCError`, or
  ///   `.unknownSystemFailure` for any other error of the source.
  open func generateKey() async throws -> String {
    try await call { try await $0.generateKey() }
  }

  /// Returns the proof that a key belongs to a genuine installation. `clientDataHash` is the SHA-256 of data with the
  /// server's challenge.
  ///
  /// - Throws: `DCError`, like `generateKey()`.
  open func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data {
    try await call { try await $0.attestation(of: keyId, clientDataHash: clientDataHash) }
  }

  /// Returns the signature of an attested key for a request. `clientDataHash` is the SHA-256 of the request.
  ///
  /// - Throws: `DCError`, like `generateKey()`.
  open func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data {
    try await call { try await $0.assertion(of: keyId, clientDataHash: clientDataHash) }
  }

  /// The form of `generateKey()` with a handler, which is called on a global queue.
  open func generateKey(completionHandler: @escaping (String?, (any Error)?) -> Void) {
    callOnGlobalQueue(completionHandler) { try await self.generateKey() }
  }

  /// The form of `attestKey(_:clientDataHash:)` with a handler, which is called on a global queue.
  open func attestKey(
    _ keyId: String, clientDataHash: Data,
    completionHandler: @escaping (Data?, (any Error)?) -> Void
  ) {
    callOnGlobalQueue(completionHandler) {
      try await self.attestKey(keyId, clientDataHash: clientDataHash)
    }
  }

  /// The form of `generateAssertion(_:clientDataHash:)` with a handler, which is called on a global queue.
  open func generateAssertion(
    _ keyId: String, clientDataHash: Data,
    completionHandler: @escaping (Data?, (any Error)?) -> Void
  ) {
    callOnGlobalQueue(completionHandler) {
      try await self.generateAssertion(keyId, clientDataHash: clientDataHash)
    }
  }

  /// Installs the source of keys.
  public func install(_ source: any AppAttestSource) {
    self.source.withLock { $0 = source }
  }

  private func call<Value: Sendable>(
    _ work: (any AppAttestSource) async throws -> Value
  ) async throws -> Value {
    guard let source = source.withLock({ $0 }) else { throw DCError(.featureUnsupported) }
    do {
      return try await work(source)
    } catch {
      throw error as? DCError ?? DCError(.unknownSystemFailure)
    }
  }
}

/// Creates the keys of app attest, as Apple's system does. A program on Linux implements it.
///
/// A key belongs to one installation of the app. Each call throws a `DCError`: `.invalidKey` if the key is already
/// attested, not attested yet or rejected, `.serverUnavailable` if an attestation needs a server that cannot be
/// reached.
public protocol AppAttestSource: Sendable {
  /// Creates a key and returns its identifier.
  func generateKey() async throws -> String

  /// Returns the attestation of a new key.
  func attestation(of keyIdentifier: String, clientDataHash: Data) async throws -> Data

  /// Returns the signature of an attested key.
  func assertion(of keyIdentifier: String, clientDataHash: Data) async throws -> Data
}
