// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Synchronization

/// The owner's consent on a phone without a screen: running a command grants the requests that it causes.
///
/// A request is granted only while an operation that announces its kind runs. Keys of the following days are released
/// until the owner ends the consent, the last day has passed or all data is removed. Reading the owner's exposures
/// needs no command, because the owner has turned the phone on for this purpose.
package final class PhoneConsent: ConsentPrompt {
  private enum Kind: Hashable {
    case enable, shareKeys, shareFollowingDays, showTravel
  }

  /// The number of running commands that announce each kind.
  private let announced = Mutex<[Kind: Int]>([:])
  /// Returns `true` while the owner's consent to share the keys of the following days is in force.
  private let standing = Mutex<(@Sendable () async -> Bool)?>(nil)

  /// Creates a consent without any announcement.
  package init() {}

  /// Grants the release of keys in advance while `isInForce` returns `true`.
  package func grantFollowingDays(while isInForce: @escaping @Sendable () async -> Bool) {
    standing.withLock { $0 = isInForce }
  }

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
    case .preAuthorizeDiagnosisKeys:
      if isAnnounced(.shareFollowingDays) { true } else { await isStanding }
    }
  }

  private static func kind(announcedBy operation: PhoneOperation) -> Kind? {
    switch operation {
    case .enable, .onboard(.consent): .enable
    case .upload, .unfinishedUpload(.continue): .shareKeys
    case .followingDays(.share): .shareFollowingDays
    case .travel: .showTravel
    default: nil
    }
  }

  private var isStanding: Bool {
    get async {
      let isInForce = standing.withLock { $0 }
      return await isInForce?() ?? false
    }
  }

  private func isAnnounced(_ kind: Kind) -> Bool {
    announced.withLock { $0[kind, default: 0] > 0 }
  }
}
