// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Classroom

@Suite("The next step of a lesson") struct NextStepTests {
  /// A class of three phones.
  private var state: LessonState {
    var state = LessonState(start: Lesson.start, now: Lesson.start)
    state.phones = (1...3).map { PhoneView(number: $0) }
    return state
  }

  @Test("Each step follows from the state of the people, from joining to the discussion")
  func steps() {
    var lesson = state
    #expect(LessonState(start: Lesson.start, now: Lesson.start).nextStep == .join)
    #expect(lesson.nextStep == .infect)
    lesson.phones[1].health = .infectious
    #expect(lesson.nextStep == .wait)
    lesson.phones[1].health = .ill
    lesson.phones[2].health = .ill
    #expect(lesson.nextStep == .test([2, 3]))
    lesson.phones[1].diagnosis.diagnosed = Lesson.start
    #expect(lesson.nextStep == .test([3]))
    lesson.phones[2].diagnosis.diagnosed = Lesson.start
    #expect(lesson.nextStep == .share([2, 3]))
    lesson.phones[1].diagnosis.shared = Lesson.start
    lesson.phones[2].diagnosis.shared = Lesson.start
    lesson.phones[0].outcome = .missed(.notChecked)
    #expect(lesson.nextStep == .publish)
    lesson.phones[0].outcome = .missed(.phoneOff)
    #expect(lesson.nextStep == .discuss)
  }

  @Test("Returned phones are ignored by the next step")
  func free() {
    var lesson = state
    lesson.phones[0].health = .ill
    lesson.phones[0].isFree = true
    #expect(lesson.nextStep == .wait)
    lesson.phones[1].isFree = true
    #expect(lesson.nextStep == .join)
  }
}
