import ArgumentParser
import Foundation

/// The server that `bench publish` starts: no command for people.
struct BenchPublishServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish-server",
    abstract: "The key server that `bench publish` starts: settings on stdin, its port on stdout.",
    shouldDisplay: false)

  func run() async throws {
    guard let line = readLine(),
      let setting = try? JSONDecoder().decode(PublishServerSetting.self, from: Data(line.utf8))
    else { throw CommandFailure.badInput("`bench publish` starts this server: use that command.") }
    try await PublishServer(setting).run {
      try printJSON(PublishServerReady(port: $0))
    }
  }
}
