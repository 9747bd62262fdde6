import Foundation
import World

/// The commands of an operator on the console's database, also while the console runs.
package struct ConsoleAdministration: Sendable {
  private let composition: ConsoleComposition
  private let randomness: any Randomness
  private let clock: any WallClock

  /// The credentials of a new account, which are shown once.
  package struct Credentials: Sendable {
    package let name: String
    package let role: Role
    package let password: String
    /// The secret for an app of one-time codes, in Base32.
    package let codeSecret: String
    /// The address that such apps read from a QR code.
    package let codeAddress: String
  }

  /// Opens the database, or creates it.
  ///
  /// - Throws: `ConsoleError`.
  package init(
    _ configuration: ConsoleConfiguration, clock: any WallClock, randomness: any Randomness
  ) throws(ConsoleError) {
    composition = try ConsoleComposition(configuration, clock: clock, randomness: randomness)
    self.clock = clock
    self.randomness = randomness
  }

  /// Adds an account with a random password and a code generator.
  ///
  /// - Throws: `ConsoleError.configuration` if the name is taken or not allowed; `.database`.
  package func addAccount(name: String, role: Role) async throws -> Credentials {
    guard let name = AccountName.checked(name, ConsoleLimit.nameCharacters) else {
      throw ConsoleError.configuration(
        "--name takes \(ConsoleLimit.nameCharacters.lowerBound) to"
          + " \(ConsoleLimit.nameCharacters.upperBound) letters, digits, spaces or . - _ @ '.")
    }
    let password = CodeGenerator.base32(randomness.bytes(15)).lowercased()
    let generator = CodeGenerator(randomness: randomness)
    let hash = try await composition.passwordChecks().hash(password)
    do {
      try await composition.accounts.add(
        name: name, role: role,
        credentials: AccountStore.Credentials(password: hash, generator: generator, lastStep: 0),
        by: AuditEvent.commandLine)
    } catch AccountStore.Refusal.nameTaken {
      throw ConsoleError.configuration("There is an account \(name): choose another --name.")
    } catch AccountStore.Refusal.tooMany {
      throw ConsoleError.configuration("There are too many accounts: use an existing one.")
    } catch {
      throw ConsoleError.database
    }
    return Credentials(
      name: name, role: role, password: password, codeSecret: generator.typedSecret,
      codeAddress: generator.address(account: name, issuer: "Firebreak"))
  }

  /// The one-time code of a secret at `time`, for an operator without an app at hand; nil if the secret is not valid.
  package static func oneTimeCode(secret: String, at time: Date) -> String? {
    CodeGenerator(typed: secret).map { $0.code(step: CodeGenerator.step(at: time.unixSecond)) }
  }

  /// True if there is an account.
  package var hasAccounts: Bool {
    get async throws { try await !composition.accounts.all().isEmpty }
  }

  /// Passes the lines of the audit log and the hashes of their entries to `body`, oldest first, and verifies them.
  @discardableResult
  package func audit(
    _ body: @Sendable (_ line: String, _ hash: String) throws -> Void = { _, _ in }
  ) async throws -> AuditChain {
    try await composition.audit.forEach(atOnce: ConsoleLimit.auditEntriesAtOnce) {
      try body($0.line, $0.hash)
    }
  }
}
