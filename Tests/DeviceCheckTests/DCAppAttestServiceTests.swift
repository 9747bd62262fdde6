// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DeviceCheck

@Suite("App attest")
struct DCAppAttestServiceTests {
  /// A source with one key, which attests it once.
  private actor OneKey: AppAttestSource {
    private var isAttested = false

    func generateKey() throws -> String { "key" }

    func attestation(of keyIdentifier: String, clientDataHash: Data) throws -> Data {
      guard keyIdentifier == "key", !isAttested else { throw DCError(.invalidKey) }
      isAttested = true
      return Data("attested".utf8) + clientDataHash
    }

    func assertion(of keyIdentifier: String, clientDataHash: Data) throws -> Data {
      guard isAttested else { throw CancellationError() }
      return Data("signed".utf8) + clientDataHash
    }
  }

  private let service = DCAppAttestService()
  private let challenge = Data([1, 2, 3])

  /// The result of a form with a handler.
  private func result<Value: Sendable>(
    of call: (@escaping (Value?, (any Error)?) -> Void) -> Void
  ) async -> Result<Value, DCError> {
    await withCheckedContinuation { done in
      call { value, error in
        done.resume(
          returning: value.map(Result.success)
            ?? .failure(error as? DCError ?? DCError(.unknownSystemFailure)))
      }
    }
  }

  @Test("Without a source the service is not supported, and every call fails")
  func unsupported() async {
    #expect(!service.isSupported)
    await #expect(throws: DCError(.featureUnsupported)) { try await service.generateKey() }
    #expect(
      await result { service.attestKey("key", clientDataHash: challenge, completionHandler: $0) }
        == .failure(DCError(.featureUnsupported)))
    #expect(
      await result {
        service.generateAssertion("key", clientDataHash: challenge, completionHandler: $0)
      }
        == .failure(DCError(.featureUnsupported)))
  }

  @Test("The source's key is created, attested once and then signs requests, in both forms")
  func attested() async throws {
    service.install(OneKey())
    #expect(service.isSupported)
    #expect(try await service.generateKey() == "key")
    #expect(await result { service.generateKey(completionHandler: $0) } == .success("key"))
    await #expect(throws: DCError(.unknownSystemFailure)) {
      try await service.generateAssertion("key", clientDataHash: challenge)
    }
    let attestation = try await service.attestKey("key", clientDataHash: challenge)
    #expect(attestation == Data("attested".utf8) + challenge)
    #expect(
      await result { service.attestKey("key", clientDataHash: challenge, completionHandler: $0) }
        == .failure(DCError(.invalidKey)))
    #expect(
      await result {
        service.generateAssertion("key", clientDataHash: challenge, completionHandler: $0)
      }
        == .success(Data("signed".utf8) + challenge))
  }

  @Test("The service is an object, and each process has one")
  func object() {
    let object: NSObject = DCAppAttestService.shared
    #expect(object.isEqual(DCAppAttestService.shared) && !object.isEqual(service))
  }
}
