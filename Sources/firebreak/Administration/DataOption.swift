import ArgumentParser
import KeyServer

/// `--data`, for commands whose other options would have the same names as the servers'.
struct DataOption: ParsableArguments {
  @Option(help: "The folder that the servers keep everything in.")
  var data = "firebreak-data"

  /// The register of apps and authorities of the key server there.
  func register() throws -> KeyServerRegistry {
    do {
      return try KeyServerRegistry(databaseFile: ServerFolder(path: data).keyDatabase)
    } catch let error as KeyServerError {
      throw CommandFailure(status: error.exitStatus, sentence: error.description)
    }
  }
}

extension KeyServerRegistry {
  /// Does `work`, whose refusals become a command's.
  func adding(_ work: (KeyServerRegistry) async throws -> Void) async throws {
    do {
      try await work(self)
    } catch let error as KeyServerError {
      throw CommandFailure(status: error.exitStatus, sentence: error.description)
    }
  }
}
