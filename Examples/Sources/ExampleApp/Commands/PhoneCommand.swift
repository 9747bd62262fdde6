import App
import BackgroundTasks
import Foundation

/// What a person does with a phone: one command is one launch of the app.
enum PhoneCommand {
  @MainActor
  static func run(_ arguments: inout Arguments) async throws {
    let folder = URL(fileURLWithPath: try arguments.next("the phone's folder"))
    guard let server = arguments.file("server") else {
      throw Arguments.Problem("say --server and the server's folder")
    }
    let command = try arguments.next("what to do with the phone")
    let clock = JumpingClock(try arguments.date("at") ?? Date())
    let radio = TapeRadio(
      clock: clock, isPoweredOn: !arguments.has("bluetooth-off"),
      sends: arguments.file("sends").map(Tape.init), hears: arguments.file("hears").map(Tape.init))
    let person = Person(
      answers: (arguments.option("answers") ?? "").map { $0 == "y" },
      always: arguments.has("yes") ? true : nil)
    let phone = try Phone(
      Phone.Setting(
        folder: folder, server: server, clock: clock, person: person, radio: radio,
        isNetworkDead: arguments.has("network-dead"), isAppInForeground: command != "background"))
    try await phone.launch()
    let hands = Hands(phone: phone, person: person, clock: clock, radio: radio)
    try await hands.do(command, &arguments)
  }
}
