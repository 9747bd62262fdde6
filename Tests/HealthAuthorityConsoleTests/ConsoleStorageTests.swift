// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The stores of the console on each engine, mostly of two processes with one database.
@Suite("Storage of the console") struct ConsoleStorageTests {
  typealias Engine = ConsoleEngine

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  // MARK: - Audit log

  @Test(
    "Entries that two processes append at once follow each other, without a branch or a gap",
    arguments: Engine.allCases)
  func chain(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let processes = [first, try first.another()]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        let audit = processes[number % 2].audit
        group.addTask {
          try await audit.append(AuditEvent("process \(number % 2)", .codeIssued, "\(number)"))
        }
      }
      try await group.waitForAll()
    }
    for process in processes {
      let chain = try await process.administration.audit()
      #expect(chain.fault == nil && chain.count == 40, "\(chain.fault ?? "")")
    }
    let subjects = try await first.audit.newest(50).map(\.subject)
    #expect(Set(subjects) == Set((0..<40).map { "\($0)" }))
  }

  @Test("PostgreSQL refuses a second entry after the same one", .needs(.process))
  func branch() async throws {
    let scene = try await ConsoleScene(.postgresql, in: folder)
    for subject in ["1", "2"] { try await scene.audit.append(AuditEvent("a", .failed, subject)) }
    await #expect(throws: (any Error).self) {
      try await scene.change(
        """
        INSERT INTO audit SELECT 3, "time", actor, action, subject, detail, previous_hash, hash
        FROM audit WHERE sequence = 2
        """)
    }
    let chain = try await scene.administration.audit()
    #expect(chain.count == 2 && chain.fault == nil)
  }

  @Test(
    "The filter of the log ignores the case of ASCII letters, and its signs are no wildcards",
    arguments: Engine.allCases)
  func filter(engine: Engine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    for (actor, subject) in [("Anna", "Code 5_A!"), ("anna", "Code 5xA%"), ("Éva", "éx")] {
      try await scene.audit.append(AuditEvent(actor, .codeIssued, subject))
      scene.clock.advance(by: 1)
    }
    func found(_ filter: AuditFilter) async throws -> [String] {
      try await scene.audit.newest(10, matching: filter).map(\.subject)
    }
    #expect(try await found(AuditFilter(actor: "ANNA")) == ["Code 5xA%", "Code 5_A!"])
    #expect(try await found(AuditFilter(actor: "Éva")) == ["éx"])
    #expect(try await found(AuditFilter(actor: "An%")).isEmpty)
    #expect(try await found(AuditFilter(subject: "5_a")) == ["Code 5_A!"])
    #expect(try await found(AuditFilter(subject: "%")) == ["Code 5xA%"])
    #expect(try await found(AuditFilter(subject: "!")) == ["Code 5_A!"])
    #expect(try await found(AuditFilter(action: "code.issued")).count == 3)
    let second = RunningConsole.start.unixSecond + 1
    #expect(try await found(AuditFilter(from: second, end: second + 1)) == ["Code 5xA%"])
    #expect(try await scene.audit.newest(10, before: 2).map(\.sequence) == [1])
    // A sign with a combining mark is no wildcard either.
    try await scene.audit.append(AuditEvent("eve", .codeIssued, "5x\u{301}"))
    #expect(try await found(AuditFilter(subject: "5_\u{301}")).isEmpty)
    #expect(try await found(AuditFilter(subject: "5x\u{301}")) == ["5x\u{301}"])
  }

  @Test(
    "A null character in a field is replaced before the entry is hashed",
    arguments: Engine.allCases)
  func nullCharacter(engine: Engine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    try await scene.audit.append(AuditEvent("a", .failed, "x\0y"))
    #expect(try await scene.audit.newest(1).first?.subject == "x\u{FFFD}y")
    #expect(try await scene.administration.audit().fault == nil)
    #expect(try await scene.accounts.account(named: "x\0y") == nil)
  }

  // MARK: - Statements

  @Test(
    "The first column of a result is that of the statement, and a fraction is no parameter",
    arguments: Engine.allCases)
  func firstColumn(engine: Engine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    let (numbers, texts) = (
      "SELECT 1 AS h, 2 AS b, 3 AS g, 4 AS a, 5 AS f, 6 AS c, 7 AS e, 8 AS d",
      "SELECT '1' AS h, '2' AS b, '3' AS g, '4' AS a, '5' AS f, '6' AS c, '7' AS e, '8' AS d"
    )
    let first = try await scene.database.read {
      (try $0.integer(sql: numbers), try $0.text(sql: texts))
    }
    #expect(first.0 == 1 && first.1 == "1")
    let none = try await scene.database.read {
      (
        try $0.integer(sql: "SELECT newest_time FROM server_state WHERE 1 = 0"),
        try $0.text(sql: "SELECT name FROM account WHERE 1 = 0")
      )
    }
    #expect(none.0 == nil && none.1 == nil)
    guard engine == .postgresql else { return }
    for number in [0.5, 1e300] {
      await #expect(throws: (any Error).self) {
        try await scene.database.write {
          try $0.execute(sql: "UPDATE server_state SET newest_time = ?", arguments: [number])
        }
      }
    }
  }

  // MARK: - Accounts

  @Test(
    "A name is added once, also in other letters, and the last administrator stays enabled",
    arguments: Engine.allCases)
  func accounts(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let second = try first.another()
    let anna = try await first.account("Anna")
    #expect(try await second.accounts.account(named: "ANNA") == anna)
    await #expect(throws: AccountStore.Refusal.nameTaken) {
      _ = try await second.accounts.add(name: "anna", role: .issuer, by: "x")
    }
    await #expect(throws: AccountStore.Refusal.looksAlike("Anna")) {
      _ = try await second.accounts.add(name: "Аnna", role: .issuer, by: "x")
    }
    await #expect(throws: AccountStore.Refusal.lastAdministrator) {
      try await second.accounts.setDisabled(true, anna, by: "x")
    }
    let jan = try await second.accounts.add(name: "Jan", role: .issuer, by: "x")
    #expect(jan.id > anna.id && jan.circle == jan.id && !jan.isComplete && anna.isComplete)
    try await second.accounts.setDisabled(true, jan, by: "x")
    #expect(try await first.accounts.all().map(\.isDisabled) == [false, true])
    // A refused change has no entry.
    #expect(try await first.details(.accountAdded).count == 2)
  }

  @Test("A one-time code is accepted by one of two processes", arguments: Engine.allCases)
  func oneTimeCode(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let second = try first.another()
    let credentials = try await first.administration.addAccount(name: "Anna", role: .issuer)
    let generator = try #require(ConsoleBrowser.generator(credentials))
    let code = generator.code(step: CodeGenerator.step(at: first.clock.now.unixSecond))
    let attempts = [first, second].map { process in
      Task {
        try await process.signIn.attempt(
          name: "Anna", password: credentials.password, code: code)
      }
    }
    var signedIn = 0
    for attempt in attempts { if case .signedIn = try await attempt.value { signedIn += 1 } }
    #expect(signedIn == 1)
  }

  @Test("Failures with a name count in all processes together", arguments: Engine.allCases)
  func locked(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let processes = [first, try first.another()]
    for number in 0..<ConsoleLimit.signInFailuresMax {
      let outcome = try await processes[number % 2].signIn.attempt(
        name: "Anna", password: "x", code: "1")
      guard case .wrong = outcome else { throw Unexpected(outcome: "\(outcome)") }
    }
    for process in processes {
      let outcome = try await process.signIn.attempt(name: "anna", password: "x", code: "1")
      guard case .locked = outcome else { throw Unexpected(outcome: "\(outcome)") }
    }
    first.clock.advance(by: TimeInterval(ConsoleLimit.signInWindowSeconds))
    let outcome = try await first.signIn.attempt(name: "Anna", password: "x", code: "1")
    guard case .wrong = outcome else { throw Unexpected(outcome: "\(outcome)") }
  }

  @Test(
    "A process with an earlier clock does not forget the failures that another has counted",
    arguments: Engine.allCases)
  func lockedAhead(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let ahead = try first.another(ahead: 1)
    for _ in 0..<ConsoleLimit.signInFailuresMax {
      let outcome = try await ahead.signIn.attempt(name: "Anna", password: "x", code: "1")
      guard case .wrong = outcome else { throw Unexpected(outcome: "\(outcome)") }
    }
    for process in [first, ahead] {
      let outcome = try await process.signIn.attempt(name: "Anna", password: "x", code: "1")
      guard case .locked = outcome else { throw Unexpected(outcome: "\(outcome)") }
    }
  }

  private struct Unexpected: Error { let outcome: String }

  @Test(
    "Of many attempts at once with one name in two processes, no more than the limit are checked",
    arguments: Engine.allCases)
  func attemptsAtOnce(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let processes = [first, try first.another()]
    let checked = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<20 {
        let signIn = processes[number % 2].signIn
        group.addTask {
          let outcome = try await signIn.attempt(name: "Anna", password: "x", code: "1")
          return if case .wrong = outcome { true } else { false }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(checked == ConsoleLimit.signInFailuresMax)
  }

  @Test(
    "A link is used once, and a session starts and ends in all processes",
    arguments: Engine.allCases)
  func link(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let second = try first.another()
    let anna = try await first.account("Anna")
    let jan = try await first.accounts.add(name: "Jan", role: .issuer, by: "Anna")
    let token = first.links.newToken()
    try await first.database.write { try first.links.store(token, for: jan, by: anna, in: $0) }
    #expect(try await second.links.account(of: token) == jan)
    let hash = PasswordHash(unmatchableWithCostLog: 4)
    #expect(try await second.links.use(token, for: hash, step: 1, in: second.accounts))
    #expect(try await !first.links.use(token, for: hash, step: 2, in: first.accounts))
    let now = try #require(try await first.accounts.account(id: jan.id))
    #expect(now.isComplete && now.circle == anna.circle)
    let session = try await first.sessions.start(for: now, with: "test")
    let seen = try #require(try await second.sessions.session(session.token))
    #expect(seen.account == now && seen.formToken == session.formToken)
    // The use in one process keeps the session alive in the other.
    let idle = TimeInterval(ConsoleLimit.sessionIdleSeconds) - 1
    for process in [second, first, second] {
      first.clock.advance(by: idle)
      #expect(try await process.sessions.session(session.token) != nil)
    }
    try await second.sessions.end(session)
    #expect(try await first.sessions.session(session.token) == nil)
  }

  @Test("Only the newest sessions of an account are kept", arguments: Engine.allCases)
  func sessions(engine: Engine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    let anna = try await scene.account("Anna")
    var tokens: [String] = []
    for _ in 0...ConsoleLimit.sessionsMax {
      tokens.append(try await scene.sessions.start(for: anna, with: "test").token)
      scene.clock.advance(by: 1)
    }
    #expect(try await scene.sessions.session(tokens[0]) == nil)
    #expect(try await scene.sessions.session(tokens[1]) != nil)
    #expect(try await scene.accounts.counts(of: anna).sessions == ConsoleLimit.sessionsMax)
  }

  @Test(
    "A sign-in in a process whose clock is an hour ahead ends no sessions in the others",
    arguments: Engine.allCases)
  func sessionsAhead(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let ahead = try first.another(ahead: 3_600)
    let session = try await first.sessions.start(
      for: try await first.account("Anna"), with: "test")
    _ = try await ahead.sessions.start(for: try await first.account("Jan"), with: "test")
    #expect(try await first.sessions.session(session.token) != nil)
    #expect(try await ahead.sessions.session(session.token) == nil)
  }

  // MARK: - Passkeys

  @Test(
    "A challenge is used once by all processes, also after a restart, until it expires",
    arguments: Engine.allCases)
  func challenge(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let anna = try await first.account("Anna")
    func challenge(_ byte: UInt8) -> PasskeyChallenges.Challenge {
      PasskeyChallenges.Challenge(
        bytes: Data([byte]), expiresAt: first.clock.now.unixSecond + 600)
    }
    func passkey(_ count: UInt32) -> PasskeyCeremony.Credential {
      PasskeyCeremony.Credential(id: Data([1]), publicKey: Data([2]), signCount: count)
    }
    let added = challenge(1)
    #expect(try await first.passkeys.add(passkey(0), name: "key", to: anna, with: added))
    await #expect(throws: PasskeyRefusal.ceremonyMismatch) {
      _ = try await first.another().passkeys.add(passkey(0), name: "k", to: anna, with: added)
    }
    #expect(try await !first.passkeys.add(passkey(0), name: "k", to: anna, with: challenge(2)))
    let used = challenge(3)
    #expect(try await first.another().passkeys.update(passkey(5), with: used))
    #expect(try await !first.passkeys.update(passkey(6), with: used))
    #expect(try await first.passkeys.passkeys(of: anna).map(\.credential.signCount) == [5])
    // A copied authenticator has an earlier counter.
    #expect(try await !first.passkeys.update(passkey(5), with: challenge(4)))
    var full = first.passkeys
    full.usedMax = 4
    #expect(try await !full.update(passkey(7), with: challenge(5)), "too many in ten minutes")
    first.clock.advance(by: 600)
    #expect(try await full.update(passkey(7), with: challenge(6)))
  }

  @Test(
    "A challenge that has expired by the clock of one process is not used again in another",
    arguments: Engine.allCases)
  func challengeAhead(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let ahead = try first.another(ahead: ConsoleLimit.challengeSeconds + 1)
    let anna = try await first.account("Anna")
    let passkey = PasskeyCeremony.Credential(id: Data([1]), publicKey: Data([2]), signCount: 0)
    func challenge(_ byte: UInt8, of scene: ConsoleScene) -> PasskeyChallenges.Challenge {
      PasskeyChallenges.Challenge(
        bytes: Data([byte]),
        expiresAt: scene.clock.now.unixSecond + ConsoleLimit.challengeSeconds)
    }
    let used = challenge(1, of: first)
    #expect(try await first.passkeys.add(passkey, name: "key", to: anna, with: used))
    #expect(try await ahead.passkeys.update(passkey, with: challenge(2, of: ahead)))
    #expect(try await !first.passkeys.update(passkey, with: used))
  }

  // MARK: - Requests and codes

  @Test(
    "Of two processes that approve a request one does, and numbers are not given again",
    arguments: Engine.allCases)
  func request(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let second = try first.another()
    let (anna, berta) = (try await first.account("Anna"), try await first.account("Berta"))
    let cara = try await first.account("Cara")
    let number = try await first.request(by: anna)
    let approvals = [(first, berta), (second, cara)].map { process, actor in
      Task { try await process.proposals.decide(number, .approved, by: actor) }
    }
    var outcomes: [ProposalStore.Outcome] = []
    for approval in approvals { outcomes.append(try await approval.value) }
    #expect(outcomes.count { $0 == .decided } == 1 && outcomes.count { $0 == .notOpen } == 1)
    let draft = ProposalStore.Draft(document: "{}", reason: "x")
    let alone = try #require(try await second.proposals.addAlone(draft, hours: 1, by: anna))
    try await first.proposals.removeAlone(alone)
    #expect(try await first.request(by: anna) > alone)
    let entries = try await first.audit.newest(100).filter { $0.subject == "change \(alone)" }
    #expect(entries.count == 1)
  }

  @Test(
    "Codes are listed in the order of their issue, and each number once",
    arguments: Engine.allCases)
  func codes(engine: Engine) async throws {
    let first = try await ConsoleScene(engine, in: folder)
    let second = try first.another()
    let anna = try await first.account("Anna")
    let list = UUID()
    let requests = (0..<30).map { _ in CodeRequest(uuid: UUID(), testType: .confirmed) }
    try await first.issuedCodes.add(Array(requests.prefix(20)), list: list, by: anna)
    try await second.issuedCodes.add(Array(requests.suffix(11)), by: anna)
    func listed(_ search: String, skip: Int = 0) async throws -> [UUID] {
      try await first.issuedCodes.codes(of: anna, search: search, skip: skip, countMax: 25)
        .map(\.uuid)
    }
    let newest = requests.reversed().map(\.uuid)
    #expect(try await listed("") == Array(newest.prefix(25)))
    #expect(try await listed("", skip: 25) == Array(newest.dropFirst(25)))
    #expect(try await listed(list.uuidString) == Array(newest.dropFirst(10)))
    #expect(try await first.issuedCodes.code(requests[19].uuid, of: anna)?.list == list)
    try await second.issuedCodes.remove([newest[0]])
    #expect(try await first.issuedCodes.count(since: 0) == 29)
    let times = OfficeTime(zone: .gmt, language: .english)
    #expect(try await first.issuedCodes.counts(in: times).map(\.codes) == [29])
  }
}
