// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import VerificationAPI
import World

/// The lists whose codes are sent by SMS, one after the other, while officials watch the progress.
///
/// They are in the memory of the console only. A list that ended early is sent again with its number: codes that were
/// sent are not sent twice.
actor SMSLists {
  /// The result of one entry.
  enum Outcome: Sendable, Hashable {
    case waiting
    case sent
    /// An earlier attempt has sent it.
    case sentBefore
    case failed(AuthorityFailure)
  }

  /// The state of a list.
  enum State: Sendable, Hashable {
    case running
    /// The server sends no more for now.
    case interrupted(AuthorityFailure)
    case done
  }

  /// An entry without its phone number.
  struct Row: Sendable {
    let line: Int
    let reference: String
    let uuid: UUID
    var outcome = Outcome.waiting
  }

  /// The progress of a list.
  struct Progress: Sendable {
    var state = State.running
    var rows: [Row]

    func count(_ isCounted: (Outcome) -> Bool) -> Int { rows.count { isCounted($0.outcome) } }
  }

  private struct Job {
    let owner: Account
    var progress: Progress
    /// The requests that were not carried out, by the index of their row. They have phone numbers.
    var requests: [Int: CodeRequest]
    var changedAt: Date
  }

  private let authority: any AdministeredAuthority
  private let issuedCodes: IssuedCodeStore
  private let clock: any WallClock
  private let logger: Logger
  private var jobs: [UUID: Job] = [:]

  init(
    authority: any AdministeredAuthority, issuedCodes: IssuedCodeStore, clock: any WallClock,
    logger: Logger
  ) {
    self.authority = authority
    self.issuedCodes = issuedCodes
    self.clock = clock
    self.logger = logger
  }

  /// Starts to send the codes of a list, unless it is being sent.
  ///
  /// - Returns: False if too many lists are being sent, or the number is that of a list of another account.
  func start(_ list: CodeList, number: UUID, by account: Account) -> Bool {
    forget()
    if let job = jobs[number] {
      guard job.owner.id == account.id else { return false }
      if job.progress.state == .running { return true }
    } else if jobs.count >= ConsoleLimit.smsListsMax, !forgetOldestDone() {
      return false
    }
    let rows = list.entries.map {
      Row(line: $0.line, reference: $0.reference, uuid: $0.request.uuid)
    }
    let requests = list.entries.enumerated().map { ($0.offset, $0.element.request) }
    jobs[number] = Job(
      owner: account, progress: Progress(rows: rows),
      requests: Dictionary(requests) { $1 }, changedAt: clock.now)
    Task { await send(number) }
    return true
  }

  /// Continues an interrupted list, also with the entries that failed.
  ///
  /// - Returns: False if there is no such list of the account.
  func resume(_ number: UUID, by account: Account) -> Bool {
    guard var job = jobs[number], job.owner.id == account.id else { return false }
    guard job.progress.state != .running else { return true }
    for index in job.requests.keys { job.progress.rows[index].outcome = .waiting }
    job.progress.state = .running
    jobs[number] = job
    Task { await send(number) }
    return true
  }

  /// The progress of a list of an account; nil if there is none.
  func progress(of number: UUID, by account: Account) -> Progress? {
    forget()
    return jobs[number].flatMap { $0.owner.id == account.id ? $0.progress : nil }
  }

  /// The numbers of the interrupted lists of an account.
  func interrupted(of account: Account) -> [UUID] {
    forget()
    return jobs.filter { _, job in
      if case .interrupted = job.progress.state { job.owner.id == account.id } else { false }
    }.keys.sorted { $0.uuidString < $1.uuidString }
  }

  /// Sends the codes that were not sent, until one fails for a reason that holds for the others too.
  private func send(_ number: UUID) async {
    let waiting = jobs[number]?.requests.keys.sorted() ?? []
    var failuresInRow = 0
    for index in waiting {
      guard let job = jobs[number], let request = job.requests[index] else { continue }
      let outcome = await outcome(of: request, list: number, by: job.owner)
      failuresInRow = Self.isOfGateway(outcome) ? failuresInRow + 1 : 0
      if case .failed(let failure) = outcome,
        Self.interrupts(failure) || failuresInRow == ConsoleLimit.smsFailuresInRowMax
      {
        jobs[number]?.progress.state = .interrupted(failure)
        jobs[number]?.changedAt = clock.now
        return
      }
      jobs[number]?.progress.rows[index].outcome = outcome
      jobs[number]?.changedAt = clock.now
      if case .failed = outcome { continue }
      jobs[number]?.requests[index] = nil
    }
    jobs[number]?.progress.state = .done
  }

  private func outcome(
    of request: CodeRequest, list: UUID, by account: Account
  ) async -> Outcome {
    do {
      let stored = try await issuedCodes.add([request], list: list, by: account)
      let outcome = await issue(request)
      if case .failed(let failure) = outcome, failure.isRefusalOfCode {
        try await issuedCodes.remove(stored)
      }
      return outcome
    } catch {
      logger.error("a code of a list was not stored: \(ConsoleError(storing: error).description)")
      // No code is issued without a stored number. The operator finds the cause in the log and in the metrics.
      return .failed(.unavailable)
    }
  }

  private func issue(_ request: CodeRequest) async -> Outcome {
    do throws(AuthorityFailure) {
      _ = try await authority.issue(request)
      return .sent
    } catch {
      return error == .taken ? .sentBefore : .failed(error)
    }
  }

  /// True if the next code would fail as well.
  private static func interrupts(_ failure: AuthorityFailure) -> Bool {
    guard case .notIssued(let refusal) = failure else { return true }
    return [.quotaExceeded, .maintenanceMode, .smsQueueFull, .unauthorized]
      .contains(refusal.errorCode)
  }

  /// True if the SMS gateway failed, which may be because of one number or for all.
  private static func isOfGateway(_ outcome: Outcome) -> Bool {
    if case .failed(.notIssued(let refusal)) = outcome {
      refusal.errorCode == .smsFailure
    } else {
      false
    }
  }

  /// Makes place for another list.
  ///
  /// - Returns: False if all lists are being sent or can be continued.
  private func forgetOldestDone() -> Bool {
    let done = jobs.filter { $0.value.progress.state == .done }
    guard let oldest = done.min(by: { $0.value.changedAt < $1.value.changedAt }) else {
      return false
    }
    jobs[oldest.key] = nil
    return true
  }

  /// Forgets lists that nothing was sent of for a while, with their phone numbers.
  private func forget() {
    let oldest = clock.now.addingTimeInterval(-ConsoleLimit.smsListSeconds)
    jobs = jobs.filter { $0.value.progress.state == .running || $0.value.changedAt > oldest }
  }
}
