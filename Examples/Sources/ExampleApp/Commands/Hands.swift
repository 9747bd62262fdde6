import App
import BackgroundTasks
import Foundation

/// The person's hands on the app, and the system's on the phone.
@MainActor
struct Hands {
  let phone: Phone
  let person: Person
  let clock: JumpingClock
  let radio: TapeRadio
  private var app: ExampleApp { phone.app }

  init(phone: Phone, person: Person, clock: JumpingClock, radio: TapeRadio) {
    self.phone = phone
    self.person = person
    self.clock = clock
    self.radio = radio
  }

  func `do`(_ command: String, _ arguments: inout Arguments) async throws {
    switch command {
    case "onboard": await onboard()
    case "status": showStatus()
    case "tests": app.notifyOthersScreen.lines.forEach(Terminal.say)
    case "enter": try await enter(&arguments)
    case "share": try await share(try test(&arguments))
    case "delete": app.notifications.delete(try test(&arguments))
    case "background": try await runBackgroundCheck()
    case "live": try await live(&arguments)
    case "developer": try await develop(&arguments)
    case let word: throw Arguments.Problem("a phone has no command \(word)")
    }
  }

  private func onboard() async {
    guard let onboarding = app.onboarding else { return Terminal.say("Already done.") }
    while onboarding.step != .finished {
      if let problem = onboarding.problem {
        Terminal.say(problem)
        // An answer that was given beforehand would be given without end.
        if person.answersByItself { return }
      }
      let answer = await person.says(onboarding.step.question)
      if onboarding.step == .welcome, !answer { return }
      await withCheckedContinuation { done in
        onboarding.answer(answer) { done.resume() }
      }
    }
    showStatus()
  }

  private func showStatus() {
    app.exposuresScreen.lines.forEach(Terminal.say)
    for title in phone.screen.notices.values.sorted() { Terminal.say("On the screen: \(title)") }
  }

  private func enter(_ arguments: inout Arguments) async throws {
    let code = try arguments.next("the code of the test")
    let day = try arguments.next("the day of the test, such as 2026-03-10")
    guard let date = ISO8601DateFormatter().date(from: "\(day)T00:00:00Z") else {
      throw Arguments.Problem("\(day) is no day such as 2026-03-10")
    }
    let entry = app.newTestEntry()
    try await Later.wait { entry.enter(code: code, day: date, completion: $0) }
    guard await person.says("Warn those who were near you?") else { return entry.cancel() }
    try await Later.wait { entry.share(completion: $0) }
    app.notifyOthersScreen.lines.forEach(Terminal.say)
  }

  private func share(_ test: TestResult) async throws {
    try await Later.wait { app.notifications.share(test, completion: $0) }
    app.notifyOthersScreen.lines.forEach(Terminal.say)
  }

  private func test(_ arguments: inout Arguments) throws -> TestResult {
    let id = try arguments.next("which test; `tests` lists them")
    guard let test = app.notifications.addedTests.first(where: { $0.id.uuidString == id }) else {
      throw Arguments.Problem("there is no test \(id); `tests` lists them")
    }
    return test
  }

  /// The system's part: runs what the app has asked for. A dead network takes all the time there is.
  private func runBackgroundCheck() async throws {
    guard let running = BGTaskScheduler.shared.launch(BackgroundCheck.taskIdentifier) else {
      throw Arguments.Problem("the app has asked for no check; exposure notification is off")
    }
    // Behind the app's own start on the main queue, the network never answers.
    if phone.isNetworkDead { DispatchQueue.main.async { running.expire() } }
    let isDone = await running.succeeded()
    Terminal.say(isDone ? "The check is done." : "The check was not completed.")
    showStatus()
  }

  /// Time goes by: beacons are sent and heard.
  private func live(_ arguments: inout Arguments) async throws {
    let text = try arguments.next("how many minutes")
    guard let minutes = Double(text), minutes > 0 else {
      throw Arguments.Problem("\(text) is no number of minutes")
    }
    let end = clock.now.addingTimeInterval(minutes * 60)
    let (device, radio) = (phone.device, radio)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await device.run() }
      group.addTask { try? await radio.scan() }
      await clock.live(until: end, whenAsleep: 2)
      group.cancelAll()
    }
    Terminal.say("It is \(end.formatted(.iso8601)).")
  }

  private func develop(_ arguments: inout Arguments) async throws {
    let menu = app.developerMenu
    switch try arguments.next("what to do in the developer menu") {
    case "show-onboarding": menu.resetOnboarding()
    case "check":
      try await Later.wait { done in
        app.notifications.check { result in
          if case .failure(let error) = result { done(error) } else { done(nil) }
        }
      }
    case "simulate-error": menu.simulateCheckError()
    case "simulate-exposure": menu.simulateExposure()
    case "simulate-test": menu.simulatePositiveTest()
    case "share-test-keys":
      let code = try arguments.next("a code that the server has issued")
      try await Later.wait { menu.shareTestKeys(code: code, completion: $0) }
    case "disable": try await Later.wait { menu.disable(completion: $0) }
    case "reset-error": menu.resetCheckError()
    case "reset-exposures": menu.resetExposures()
    case "reset-tests": menu.resetTests()
    case let word: throw Arguments.Problem("the developer menu has no \(word)")
    }
    showStatus()
    app.notifyOthersScreen.lines.forEach(Terminal.say)
  }
}
