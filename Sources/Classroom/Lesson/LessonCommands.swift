import ExposureApp
import Foundation
import Simulation

// The commands of pupils for their phones, and of the teacher for people.

extension Lesson {
  /// Switches a phone off or on. A phone that is off sends, receives and checks nothing.
  func setPower(of number: Int, on isOn: Bool) async throws {
    try await perform { lesson in lesson.setRadio(of: try lesson.index(of: number), on: isOn) }
  }

  /// Lets a phone check for keys now, as its user may.
  func check(_ number: Int) async throws {
    try await perform { lesson in
      let phone = try lesson.phone(number)
      _ = await phone.app.check()
      lesson.noteCurve()
    }
  }

  /// Enters a PIN on a phone, and so agrees to share its keys.
  func enterPIN(_ text: String, on number: Int) async throws -> UploadOutcome {
    try await perform { lesson in
      let phone = try lesson.phone(number)
      let outcome = await phone.app.upload(pin: text, isInteroperabilityEnabled: false)
      lesson.noteUpload(outcome, index: try lesson.index(of: number))
      return outcome
    }
  }

  private func phone(_ number: Int) throws -> SimulatedPhone {
    let index = try index(of: number)
    guard seats[index].isOn else { throw LessonRefusal.phoneIsOff }
    return crowd.phones[index]
  }

  private func noteUpload(_ outcome: UploadOutcome, index: Int) {
    seats[index].upload = outcome
    let number = seats[index].number
    guard outcome.result == .success else { return news = .uploadFailed(number) }
    seats[index].diagnosis.noteUpload(at: now)
    news = .uploaded(number)
  }

  /// Tests a person. The test is positive as soon as the person is infectious; then the health authority issues a PIN,
  /// and the person stays at home.
  func test(_ number: Int) async throws {
    try await performForTeacher { lesson in
      let index = try lesson.index(of: number)
      let seat = lesson.seats[index]
      guard lesson.outbreak.health(of: seat.name, at: lesson.now).infects else {
        lesson.seats[index].test = .negative
        return .testNegative(number)
      }
      let official = await lesson.authority.official(network: lesson.network)
      let pin = IssuedPIN(text: try await official.issueCode())
      let end = lesson.now.addingTimeInterval(ClassLimit.codeLifetimeSeconds)
      lesson.seats[index].test = .positive(pin, until: end)
      lesson.seats[index].diagnosis.diagnosed = seat.diagnosis.diagnosed ?? lesson.now
      lesson.noteCurve()
      return .testPositive(number)
    }
  }

  /// Infects one person who is drawn from the seed.
  func infectOne() async throws {
    try await performForTeacher { lesson in
      let names = lesson.seats.filter { !$0.isFree }.map(\.name)
      guard let name = lesson.outbreak.infectOne(of: names, at: lesson.now),
        let number = Seat.number(name)
      else { throw LessonRefusal.allInfected }
      lesson.noteCurve()
      return .infectionStarted(number)
    }
  }
}
