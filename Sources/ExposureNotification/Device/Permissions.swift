import Foundation
import Logging
import SealedStorage

/// Asks the person, and remembers the answer under seal.
///
/// Documentation/Framework.md 5.
actor Permissions {
  private let consent: any ConsentPrompt
  private let bundleIdentifier: String
  private let file: SealedFile
  private let standing: Standing
  /// The question that is before the person now; whoever asks meanwhile waits for the same answer.
  private var question: Task<Bool, any Error>?

  init(
    consent: any ConsentPrompt, bundleIdentifier: String, file: SealedFile, standing: Standing
  ) {
    self.consent = consent
    self.bundleIdentifier = bundleIdentifier
    self.file = file
    self.standing = standing
  }

  /// Returns where the person allows, or has allowed, exposure notification; asks only once ever.
  ///
  /// - Throws: `ENError`, or what the prompt throws where it could not ask; then nobody was asked.
  func authorize() async throws {
    switch standing.permission.authorization {
    case .authorized: return
    case .restricted: throw ENError(.restricted)
    case .notAuthorized: throw ENError(.notAuthorized)
    case .unknown: break
    }
    let isAllowed = try await answerToEnabling()
    // Of several who waited for the same answer, the first keeps it.
    if standing.permission.authorization == .unknown {
      try change { $0.authorization = isAllowed ? .authorized : .notAuthorized }
    }
    guard standing.permission.authorization == .authorized else { throw ENError(.notAuthorized) }
  }

  /// Asks the person; every time anew.
  func allows(_ request: ConsentRequest) async throws -> Bool {
    try await consent.allows(request, for: bundleIdentifier)
  }

  /// Tells the person.
  func tell(_ notice: ConsentNotice) async {
    await consent.tell(notice, for: bundleIdentifier)
  }

  /// Changes what is remembered: on the disk first, then for everybody to see.
  func change(_ change: (inout Permission) -> Void) throws(ENError) {
    var permission = standing.permission
    change(&permission)
    guard permission != standing.permission else { return }
    guard let content = try? JSONEncoder().encode(StoredPermission(permission)) else {
      throw ENError(.internal)
    }
    do throws(SealedStorageError) {
      try file.replace(with: content)
    } catch {
      throw ENError(error)
    }
    standing.set(permission)
  }

  /// What was remembered; where that cannot be read the person is asked again.
  static func remembered(in file: SealedFile, logger: Logger) -> Permission {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return Permission() }
      let stored = try? JSONDecoder().decode(StoredPermission.self, from: content)
      return stored?.permission ?? Permission()
    } catch {
      logger.warning("the permission cannot be read and will be asked for again: \(error)")
      if error == .damaged { _ = try? file.setAside() }
      return Permission()
    }
  }

  private func answerToEnabling() async throws -> Bool {
    if let question { return try await question.value }
    let asked = Task { [consent, bundleIdentifier] in
      try await consent.allows(.enableExposureNotification, for: bundleIdentifier)
    }
    question = asked
    defer { question = nil }
    return try await asked.value
  }
}
