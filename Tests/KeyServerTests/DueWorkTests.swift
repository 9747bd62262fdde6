import Foundation
import Synchronization
import TestSupport
import Testing

@testable import KeyServer

@Suite("Key server: work that is due after so much, beside what brings it")
struct DueWorkTests {
  @Test("One short of its count nothing is done, on it the work is, and then it begins anew")
  func count() async throws {
    let done = Mutex(0)
    let work = DueWork("test", each: 10) { done.withLock { $0 += 1 } }
    for round in 1...3 {
      work.add(9)
      #expect(done.withLock { $0 } == round - 1)
      work.add(1)
      try await Patience.until { done.withLock { $0 } == round }
      #expect(done.withLock { $0 } == round)
      // It is over a moment after it is done.
      try await Patience.until { !work.isUnderWay }
    }
  }

  @Test("It is done once at a time, and what comes meanwhile counts for the next")
  func meanwhile() async throws {
    let begun = Mutex(0)
    let goesOn = Mutex(false)
    let work = DueWork("test", each: 10) {
      begun.withLock { $0 += 1 }
      while !goesOn.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.001) }
    }
    work.add(10)
    try await Patience.until { begun.withLock { $0 } == 1 }
    work.add(9)
    work.add(9)
    #expect(begun.withLock { $0 } == 1)
    goesOn.withLock { $0 = true }
    try await Patience.until { !work.isUnderWay }
    work.add(1)
    try await Patience.until { begun.withLock { $0 } == 2 }
    #expect(begun.withLock { $0 } == 2)
  }
}
