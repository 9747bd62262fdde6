// SPDX-License-Identifier: Apache-2.0
import DeviceCheck

/// Creates and attests a key, once.
@available(iOS 14.0, *)
final class AttestedKey {
  private let service = DCAppAttestService.shared

  func attest(_ hash: Data, done: @escaping (Result<Data, Error>) -> Void) {
    guard service.isSupported else { return done(.failure(DCError(.featureUnsupported))) }
    service.generateKey { [service] key, error in
      guard let key = key else { return done(.failure(error ?? DCError(.unknownSystemFailure))) }
      service.attestKey(key, clientDataHash: hash) { attestation, error in
        done(attestation.map { .success($0) } ?? .failure(error ?? DCError(.invalidKey)))
      }
    }
  }

  func assertion(_ key: String, _ hash: Data) async throws -> Data {
    try await service.generateAssertion(key, clientDataHash: hash)
  }
}

func isTemporary(_ error: Error) -> Bool {
  (error as NSError).domain == DCErrorDomain
    && (error as NSError).code == DCError.serverUnavailable.rawValue
}
