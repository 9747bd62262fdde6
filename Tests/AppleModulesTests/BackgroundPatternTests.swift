// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks
import DeviceCheck
import Foundation
import Testing

/// Runs the patterns of background tasks and device checks on the objects of the process.
@Suite("What apps write against BackgroundTasks and DeviceCheck", .serialized)
struct BackgroundPatternTests {
  @Test("A daily check is registered, scheduled and launched; other tasks are not permitted")
  func daily() async throws {
    #expect(submitRefresh("any") == "unavailable")
    BGTaskScheduler.shared.install(TaskList(), permittedIdentifiers: [DailyCheck.identifier])
    #expect(submitRefresh("any") == "not permitted")
    let check = DailyCheck()
    #expect(check.register(on: DispatchQueue(label: "check")) { true })
    let now = Date()
    try check.schedule(after: now)
    let pending = try #require(await BGTaskScheduler.shared.pendingTaskRequests().first)
    #expect(pending.earliestBeginDate == now.addingTimeInterval(86_400))
    let run = try #require(BGTaskScheduler.shared.launch(DailyCheck.identifier))
    #expect(await run.succeeded())
  }

  @Test("A token and an attested key come from the installed source")
  func attestation() async throws {
    let unsupported = await withCheckedContinuation { done in
      AttestedKey().attest(Data()) { done.resume(returning: $0) }
    }
    #expect(throws: DCError(.featureUnsupported)) { try unsupported.get() }
    DCDevice.current.install(TestAttestation())
    DCAppAttestService.shared.install(TestAttestation())
    let body = await withCheckedContinuation { done in
      requestBody(from: DCDevice.current) { done.resume(returning: $0) }
    }
    #expect(body == ["token": "AQID"])
    let hash = Data([7])
    let attested = await withCheckedContinuation { done in
      AttestedKey().attest(hash) { done.resume(returning: $0) }
    }
    #expect(try attested.get() == Data([7, 1]))
    #expect(try await AttestedKey().assertion("key", hash) == Data([7, 2]))
    #expect(isTemporary(DCError(.serverUnavailable)) && !isTemporary(DCError(.invalidKey)))
  }
}
