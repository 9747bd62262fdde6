// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import SealedStorage
import TextEncodings

/// Asks the user for consent and stores the decisions in a sealed file.
actor ConsentStore {
  private let prompt: any ConsentPrompt
  private let bundleIdentifier: String
  private let file: SealedFile
  private let reports: DamageReports
  private let state: DeviceState
  private let logger: Logger
  /// The prompt that is on the screen now; concurrent callers await the same decision.
  private var openPrompt: Task<Bool, any Error>?

  /// - Parameter isExpected: True if the device has been on, so a missing file was removed by others.
  init(
    prompt: any ConsentPrompt, bundleIdentifier: String, file: SealedFile, isExpected: Bool,
    reports: DamageReports, state: DeviceState, logger: Logger
  ) {
    self.prompt = prompt
    self.bundleIdentifier = bundleIdentifier
    self.file = file
    self.reports = reports
    self.state = state
    self.logger = logger
    if isExpected { Self.restoreIfMissing(file, reports: reports, logger) }
    Self.read(file, reports: reports, into: state, logger)
  }

  /// Reads the stored consent again if that has failed.
  func readAgain() {
    if state.failure != nil { Self.read(file, reports: reports, into: state, logger) }
  }

  /// Checks that the user allows exposure notification. The user is asked once; the decision is stored.
  ///
  /// - Throws: `ENError` without permission, or the error of a prompt that could not be shown; then nothing is
  ///   stored.
  func authorize() async throws {
    if let failure = state.failure { throw ENError(failure) }
    switch state.consent.authorization {
    case .authorized: return
    case .restricted: throw ENError(.restricted)
    case .notAuthorized: throw ENError(.notAuthorized)
    case .unknown: break
    }
    let isAllowed = try await promptForEnabling()
    // Of several callers that awaited the same prompt, the first one stores the decision.
    if state.consent.authorization == .unknown {
      try update { $0.authorization = isAllowed ? .authorized : .notAuthorized }
    }
    guard state.consent.authorization == .authorized else { throw ENError(.notAuthorized) }
  }

  func allows(_ request: ConsentRequest) async throws -> Bool {
    try await prompt.allows(request, for: bundleIdentifier)
  }

  func tell(_ notice: ConsentNotice) async {
    await prompt.tell(notice, for: bundleIdentifier)
  }

  /// Changes the stored consent: first on the disk, then in memory.
  func update(_ change: (inout Consent) -> Void) throws(ENError) {
    // Stored decisions that could not be read must not be replaced.
    if let failure = state.failure { throw ENError(failure) }
    var consent = state.consent
    change(&consent)
    guard consent != state.consent else { return }
    guard let content = JSONEncoder().encodeIfPossible(StoredConsent(consent)) else {
      throw ENError(.internal)
    }
    do throws(SealedStorageError) {
      try file.replace(with: content)
    } catch {
      throw ENError(error)
    }
    state.set(consent)
  }

  /// Reads the stored consent into `state`. If it is damaged, the user is asked again.
  private static func read(
    _ file: SealedFile, reports: DamageReports, into state: DeviceState, _ logger: Logger
  ) {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return state.set(Consent()) }
      guard let stored = JSONDecoder().decodeIfValid(StoredConsent.self, from: content) else {
        throw .damaged
      }
      state.set(stored.consent)
    } catch .damaged {
      reports.setAside(file, .consent)
      state.set(Consent())
    } catch {
      logger.error("reading the consent failed: \(error); will try again")
      state.setFailure(error)
    }
  }

  /// Reports that the file was removed, and stores that nothing is decided, so that it is reported once.
  private static func restoreIfMissing(
    _ file: SealedFile, reports: DamageReports, _ logger: Logger
  ) {
    do throws(SealedStorageError) {
      guard try file.read() == nil,
        let content = JSONEncoder().encodeIfPossible(StoredConsent(Consent()))
      else { return }
      try reports.record(.consent)
      try file.replace(with: content)
    } catch {
      // `read` handles a file that cannot be read. One that cannot be stored is restored after the next start.
      logger.warning("the consent is missing and could not be restored: \(error)")
    }
  }

  private func promptForEnabling() async throws -> Bool {
    if let openPrompt { return try await openPrompt.value }
    let task = Task { [prompt, bundleIdentifier] in
      try await prompt.allows(.enableExposureNotification, for: bundleIdentifier)
    }
    openPrompt = task
    defer { openPrompt = nil }
    return try await task.value
  }
}

/// The system's dialogs, which a program on Linux provides: a page, a test, or a rule of a simulation.
///
/// Called only where Apple's system asks the user.
public protocol ConsentPrompt: Sendable {
  /// Asks the user and returns the decision; `bundleIdentifier` names the app that asks.
  ///
  /// - Throws: if the prompt could not be shown; the app's call then fails with `.unknown`, and no
  ///   decision is stored.
  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async throws -> Bool

  /// Shows the user a notice without a choice. The default implementation shows nothing.
  func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async
}

extension ConsentPrompt {
  /// Shows nothing.
  public func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {}
}

/// An action that needs the user's consent.
public enum ConsentRequest: Hashable, Sendable {
  /// Sending and receiving beacons. Asked once; the decision is stored.
  case enableExposureNotification
  /// Handing the user's own keys to the app. Asked every time.
  case shareDiagnosisKeys
  /// Showing the app its exposures one by one, for the reason the app gives. Asked every time.
  case showExposureInfo(explanation: String)
  /// Handing the user's own keys to the app once within the next five days, without asking again.
  case preAuthorizeDiagnosisKeys
  /// Telling the app if the user has left its region. Asked until the user agrees.
  case showTravelStatus
}

/// A notification that the system itself shows the user.
public enum ConsentNotice: Hashable, Sendable {
  /// Keys with consent given in advance have been handed to the app.
  case preAuthorizedKeysReleased
}

/// The user's decisions, and the switch for exposure notification.
struct Consent: Equatable, Sendable {
  var authorization = ENAuthorizationStatus.unknown
  var isEnabled = false
  /// True if the app may know that the user travelled.
  var showsTravel = false
  var preAuthorization: PreAuthorization?
}

/// The user's consent, given in advance, to one release of the keys.
struct PreAuthorization: Hashable, Codable, Sendable {
  let given: Date
  /// True if the keys were released under this consent.
  var isUsed = false

  init(given: Date) {
    self.given = given
  }

  /// True within five days of the consent. False if the clock was set back to before it.
  func isValid(at now: Date) -> Bool {
    (0...DeviceLimit.preAuthorizationSeconds).contains(now.timeIntervalSince(given))
  }
}

/// `Consent` as stored in the sealed file `permission`.
struct StoredConsent: Codable {
  let authorization: Int
  let isEnabled: Bool
  /// Nil in files of devices that never asked.
  let showsTravel: Bool?
  let preAuthorization: PreAuthorization?

  init(_ consent: Consent) {
    authorization = consent.authorization.rawValue
    isEnabled = consent.isEnabled
    showsTravel = consent.showsTravel
    preAuthorization = consent.preAuthorization
  }

  var consent: Consent {
    Consent(
      authorization: ENAuthorizationStatus(rawValue: authorization) ?? .unknown,
      isEnabled: isEnabled, showsTravel: showsTravel ?? false, preAuthorization: preAuthorization)
  }
}
