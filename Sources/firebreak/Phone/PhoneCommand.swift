import ArgumentParser
import Bluetooth
import Foundation
import PhoneProcess
import RehearsalClock
import Terminal
import World

/// `firebreak phone`: one phone as a process, and the commands of its owner.
struct PhoneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone",
    abstract: "Run a phone as a process, and talk to it.",
    discussion: """
      `run` runs the framework, the app and its checks until Ctrl-C or SIGTERM. The other commands ask the running \
      phone through the socket DIR/phone.socket; without a running phone they open its storage themselves. \
      Documentation/Phone.md explains the configuration, the sealing key and systemd.
      """,
    subcommands: [
      PhoneRunCommand.self, PhoneStatusCommand.self, PhoneCheckCommand.self,
      PhoneEnableCommand.self, PhoneDisableCommand.self, PhoneHistoryCommand.self,
      PhoneExposuresCommand.self, PhoneUploadCommand.self, PhoneTravelCommand.self,
      PhoneRemoveCommand.self, PhoneStartOverCommand.self, PhoneExportCommand.self,
      PhoneHearCommand.self, PhoneSentCommand.self,
    ])

  @OptionGroup var options: PhoneOptions
}

/// The options of all `phone` commands, before or after the name of the command.
struct PhoneOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The folder of the phone.", valueName: "dir"))
  var data: String

  @Option(
    help: ArgumentHelp("The configuration, JSON; by default DIR/config.json.", valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp("The file of the sealing key, outside DIR.", valueName: "path"))
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "The same; on the first start the key is generated there.", valueName: "path"))
  var createKey: String?

  @Option(
    help: ArgumentHelp(
      "The radio, instead of that of the configuration.", valueName: "none|hci:host:port"),
    transform: { try PhoneRadio($0) })
  var radio: PhoneRadio?

  @Flag(help: "Allow the commands and options for developers.")
  var developer = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run ahead of the machine's clock, or behind it. For developers.", valueName: "seconds"))
  var clockOffset = 0

  @Option(
    help: ArgumentHelp(
      "Follow the clock of a rehearsal. For developers.", valueName: "path"))
  var clockFile: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Log everything to stderr, not only errors and notices.")
  var verbose = false

  /// The options that must equal those of a running phone.
  var start: PhoneStart {
    var start = PhoneStart()
    start.clockOffset = clockOffset
    start.configuration = config.map(PhoneStart.path)
    start.keyFile = (keyFile ?? createKey).map(PhoneStart.path)
    return start
  }

  func validate() throws {
    guard keyFile == nil || createKey == nil else {
      throw ValidationError("Give either --key-file or --create-key, not both.")
    }
    try DeveloperOptions.check(
      clockOffset: clockOffset, clockFile: clockFile, developer: developer)
  }
}

/// The options for developers of `phone` and `serve`.
enum DeveloperOptions {
  /// - Throws: `ValidationError` if the options exclude each other, the offset is too large, or `--developer` is
  ///   missing.
  static func check(clockOffset: Int, clockFile: String?, developer: Bool) throws {
    guard clockOffset == 0 && clockFile == nil || developer else {
      let option = clockFile == nil ? "--clock-offset" : "--clock-file"
      throw ValidationError("\(option) is for developers: add --developer.")
    }
    guard clockOffset == 0 || clockFile == nil else {
      throw ValidationError("Give either --clock-offset or --clock-file, not both.")
    }
    let offsets = ClockWithOffset.offsets
    guard offsets.contains(clockOffset) else {
      throw ValidationError(
        "--clock-offset takes \(offsets.lowerBound) to \(offsets.upperBound) seconds.")
    }
  }

  /// The clock of these options: the machine's, an offset of it, or that of a rehearsal.
  ///
  /// - Throws: `CommandFailure` if the file is not that of a clock.
  static func clock(offset: Int, file: String?) throws(CommandFailure) -> any WallClock {
    guard let file else {
      return offset == 0 ? SystemClock() : ClockWithOffset(SystemClock(), ahead: offset)
    }
    do throws(RehearsalClockError) {
      return try RehearsalClock(file: URL(fileURLWithPath: file))
    } catch {
      throw .badInput(error.description.printable)
    }
  }
}

/// The radio of a phone: a controller, or none.
enum PhoneRadio: Equatable {
  /// No Bluetooth: the phone only checks and uploads.
  case none
  /// A Bluetooth controller.
  case controller(RadioAddress)

  /// The forms of the text, for messages.
  static let form = "`none`, `hci:HOST:PORT`, `hci:/dev/ttyX[,SPEED]` or `hci:user:N`"

  /// - Throws: `RadioAddressError` with a sentence that says what to change.
  init(_ text: String) throws(RadioAddressError) {
    self = text == "none" ? .none : .controller(try RadioAddress(text))
  }
}
