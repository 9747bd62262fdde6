// SPDX-License-Identifier: Apache-2.0
import App
import BackgroundTasks
import Foundation

/// Launches a phone for one command.
enum PhoneCommand {
  @MainActor
  static func run(_ arguments: inout Arguments) async throws {
    let folder = URL(fileURLWithPath: try arguments.next("the phone's folder"))
    let server = try server(arguments)
    let command = try arguments.next("the phone's command")
    let clock = SimulatedClock(try arguments.date("at") ?? Date())
    let radio = RecordingRadio(
      clock: clock, isPoweredOn: !arguments.has("bluetooth-off"),
      sends: arguments.file("sends").map(BeaconRecording.init),
      hears: arguments.file("hears").map(BeaconRecording.init))
    let user = User(
      answers: (arguments.option("answers") ?? "").map { $0 == "y" },
      always: arguments.has("yes") ? true : nil)
    let phone = try Phone(
      Phone.Setting(
        folder: folder, server: server, clock: clock, user: user, radio: radio,
        isNetworkDead: arguments.has("network-dead"),
        isKilledAfterPost: arguments.has("killed-after-post"),
        isAppInForeground: command != "background"))
    try await phone.launch()
    let commands = PhoneCommands(phone: phone, user: user, clock: clock, radio: radio)
    try await commands.run(command, &arguments)
  }
}

extension PhoneCommand {
  private static func server(_ arguments: Arguments) throws -> Phone.Server {
    if let folder = arguments.file("server") { return .folder(folder) }
    guard let verification = arguments.option("verification-server").flatMap(URL.init(string:)),
      let keys = arguments.option("key-server").flatMap(URL.init(string:)),
      let regionFile = arguments.file("region")
    else {
      throw Arguments.Problem(
        "missing option --server with the server's folder, or --verification-server URL,"
          + " --key-server URL and --region FILE")
    }
    return .firebreak(.init(verification: verification, keys: keys), regionFile: regionFile)
  }
}

/// The user's actions in the app, and the system's actions on the phone.
@MainActor
struct PhoneCommands {
  let phone: Phone
  let user: User
  let clock: SimulatedClock
  let radio: RecordingRadio
  private var app: ExampleApp { phone.app }

  init(phone: Phone, user: User, clock: SimulatedClock, radio: RecordingRadio) {
    self.phone = phone
    self.user = user
    self.clock = clock
    self.radio = radio
  }

  func run(_ command: String, _ arguments: inout Arguments) async throws {
    switch command {
    case "onboard": await onboard()
    case "status": showStatus()
    case "tests": app.notifyOthersScreen.lines.forEach(Terminal.print)
    case "enter": try await enter(&arguments)
    case "share": try await share(try test(&arguments))
    case "delete": app.notifications.delete(try test(&arguments))
    case "background": try await runBackgroundCheck()
    case "live": try await live(&arguments)
    case "developer": try await develop(&arguments)
    case let word: throw Arguments.Problem("unknown phone command: \(word)")
    }
  }

  private func onboard() async {
    guard let onboarding = app.onboarding else { return Terminal.print("Already done.") }
    while onboarding.step != .finished {
      if let problem = onboarding.problem {
        Terminal.print(problem)
        // A predefined answer would repeat the error forever.
        if user.isAutomatic { return }
      }
      let answer = await user.ask(onboarding.step.question)
      if onboarding.step == .welcome, !answer { return }
      await withCheckedContinuation { done in
        onboarding.answer(answer) { done.resume() }
      }
    }
    showStatus()
  }

  private func showStatus() {
    app.exposuresScreen.lines.forEach(Terminal.print)
    for title in phone.screen.notices.values.sorted() { Terminal.print("On the screen: \(title)") }
  }

  private func enter(_ arguments: inout Arguments) async throws {
    let code = try arguments.next("the code of the test")
    let day = try arguments.next("the day of the test, such as 2026-03-10")
    guard let date = ISO8601DateFormatter().date(from: "\(day)T00:00:00Z") else {
      throw Arguments.Problem("\(day) is not a date such as 2026-03-10")
    }
    let entry = app.newTestEntry()
    try await Handler.wait { entry.enter(code: code, day: date, completion: $0) }
    guard await user.ask("Warn those who were near you?") else { return entry.cancel() }
    try await Handler.wait { entry.share(completion: $0) }
    app.notifyOthersScreen.lines.forEach(Terminal.print)
  }

  private func share(_ test: TestResult) async throws {
    try await Handler.wait { app.notifications.share(test, completion: $0) }
    app.notifyOthersScreen.lines.forEach(Terminal.print)
  }

  private func test(_ arguments: inout Arguments) throws -> TestResult {
    let id = try arguments.next("a test; `tests` lists them")
    guard let test = app.notifications.addedTests.first(where: { $0.id.uuidString == id }) else {
      throw Arguments.Problem("unknown test \(id); `tests` lists all")
    }
    return test
  }

  /// Runs the app's background task. With a dead network, the time expires.
  private func runBackgroundCheck() async throws {
    guard let running = BGTaskScheduler.shared.launch(BackgroundCheck.taskIdentifier) else {
      throw Arguments.Problem("no check is scheduled; exposure notification is off")
    }
    // Queued after the app's own start, because the network never responds.
    if phone.isNetworkDead { DispatchQueue.main.async { running.expire() } }
    let isDone = await running.succeeded()
    Terminal.print(isDone ? "The check is done." : "The check was not completed.")
    showStatus()
  }

  /// Lets time pass while beacons are sent and received.
  private func live(_ arguments: inout Arguments) async throws {
    let text = try arguments.next("a number of minutes")
    guard let minutes = Double(text), minutes > 0 else {
      throw Arguments.Problem("\(text) is not a number of minutes")
    }
    let end = clock.now.addingTimeInterval(minutes * 60)
    let (device, radio) = (phone.device, radio)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await device.run() }
      group.addTask { try? await radio.scan() }
      await clock.advance(until: end, whenAsleep: 2)
      group.cancelAll()
    }
    Terminal.print("It is \(end.formatted(.iso8601)).")
  }

  private func develop(_ arguments: inout Arguments) async throws {
    let menu = app.developerMenu
    switch try arguments.next("an action of the developer menu") {
    case "show-onboarding": menu.resetOnboarding()
    case "check":
      try await Handler.wait { done in
        app.notifications.check { result in
          if case .failure(let error) = result { done(error) } else { done(nil) }
        }
      }
    case "simulate-error": menu.simulateCheckError()
    case "simulate-exposure": menu.simulateExposure()
    case "simulate-test": menu.simulatePositiveTest()
    case "share-test-keys":
      let code = try arguments.next("a code that the server has issued")
      try await Handler.wait { menu.shareTestKeys(code: code, completion: $0) }
    case "disable": try await Handler.wait { menu.disable(completion: $0) }
    case "reset-error": menu.resetCheckError()
    case "reset-exposures": menu.resetExposures()
    case "reset-tests": menu.resetTests()
    case let word: throw Arguments.Problem("unknown developer action: \(word)")
    }
    showStatus()
    app.notifyOthersScreen.lines.forEach(Terminal.print)
  }
}
