import ExposureNotification
import Synchronization

/// The owner's consent on a phone without a screen: running a command grants the requests that it causes.
///
/// A request is granted only while a command that announces its kind runs. Reading the owner's exposures needs no
/// command, because the owner has turned the phone on for this purpose.
package final class PhoneConsent: ConsentPrompt {
  private enum Kind: Hashable {
    case enable, shareKeys, showTravel
  }

  /// The number of running commands that announce each kind.
  private let announced = Mutex<[Kind: Int]>([:])

  /// Creates a consent without any announcement.
  package init() {}

  /// Grants the requests of `operation` while `work` runs.
  package func granting<Result>(
    _ operation: PhoneOperation, _ work: () async throws -> Result
  ) async rethrows -> Result {
    guard let kind = Self.kind(announcedBy: operation) else { return try await work() }
    announced.withLock { $0[kind, default: 0] += 1 }
    defer { announced.withLock { $0[kind, default: 1] -= 1 } }
    return try await work()
  }

  package func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
    switch request {
    case .enableExposureNotification: isAnnounced(.enable)
    case .shareDiagnosisKeys: isAnnounced(.shareKeys)
    case .showTravelStatus: isAnnounced(.showTravel)
    case .showExposureInfo: true
    case .preAuthorizeDiagnosisKeys: false
    }
  }

  private static func kind(announcedBy operation: PhoneOperation) -> Kind? {
    switch operation {
    case .enable: .enable
    case .upload: .shareKeys
    case .travel: .showTravel
    default: nil
    }
  }

  private func isAnnounced(_ kind: Kind) -> Bool {
    announced.withLock { $0[kind, default: 0] > 0 }
  }
}
