// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureNotification
import Foundation
import QuietHTTP
import SystemPackage
import Terminal

/// `firebreak bench`: measures matching and the servers on this machine.
package struct BenchCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure matching, the servers and many phones; the figures are explained in "
      + "Documentation/Performance.md.",
    subcommands: [
      BenchMatchCommand.self, BenchPublishCommand.self, BenchExportCommand.self,
      BenchOverloadCommand.self, BenchTownCommand.self,
      BenchPublishServerCommand.self, BenchExportFillCommand.self,
    ])

  package init() {}
}

/// The accepted ranges of the options.
enum BenchLimit {
  /// Keys to match; the files have 31 bytes a key, about 1.5 GB at most.
  static let keys = 1...50_000_000
  /// The limit of `firebreak match`.
  static let sightings = 1...SightingsLimit.rowCountMax
  static let threads = MatchLimit.threads

  /// Concurrent connections to our own server, which accepts no more from one address.
  static let connections = 1...QuietLimit.connectionsPerAddressMax
  /// Concurrent connections to another server.
  static let connectionsToTarget = 1...1_024
  /// Uploads of one run; each is held in memory with its response, about 6 KB.
  static let requests = 1...200_000
  /// The seconds of overload: the uploads are held in memory.
  static let overloadSeconds = 2...30
  /// Keys in the database of a server under load.
  static let storedKeys = 0...5_000_000
  /// Phones in one process: a large class.
  static let phones = 1...400
  /// Days of a simulation that are measured.
  static let simulatedDays = 1...14
  /// The limit of the publish API.
  static let keysPerUpload = 1...30
  /// The bytes of stderr that are read from a process of the bench.
  static let errorByteCountMax = 1 << 20

  /// Throws a `ValidationError` if the value of `option` is outside `range`.
  static func check(_ value: Int, _ range: ClosedRange<Int>, _ option: String) throws {
    guard range.contains(value) else {
      throw ValidationError(
        "\(option) must be between \(range.lowerBound) and \(range.upperBound).")
    }
  }
}

/// The build configuration of this executable. Only release builds give valid figures.
enum BuildKind: String, Encodable {
  case debug, release

  #if DEBUG
    static let current = debug
  #else
    static let current = release
  #endif

  /// Prints a warning on stderr if this is a debug build.
  static func warnUnlessRelease() {
    guard current == .debug else { return }
    note("This is a debug build, its figures are not valid: use `make bench`.")
  }
}

extension CommandFailure {
  /// The failure of another `firebreak` process; its error is the last line of `errors`, its stderr.
  static func ofProcess(_ problem: String, errors: String) -> CommandFailure {
    let prefix = "firebreak: "
    let reason = errors.split(separator: "\n").last.map { line in
      line.hasPrefix(prefix) ? line.dropFirst(prefix.count) : line
    }
    return CommandFailure(
      status: .machineFailed, message: "\(problem): \(reason ?? "try again.")")
  }
}

extension FilePath {
  /// The running program, to be started again as another process.
  static var currentExecutable: FilePath {
    FilePath(URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path)
  }
}

/// The folder for the files of a workload: temporary, or chosen and kept.
struct BenchFolder {
  let url: URL
  private let isKept: Bool

  /// The file system in memory of Linux.
  private static let memory = URL(fileURLWithPath: "/dev/shm")

  /// Creates a temporary folder, or the folder at `keep` if it does not exist.
  ///
  /// - Parameter isInMemory: True for a temporary folder in memory, if this machine has a file system there.
  init(keep: String?, isInMemory: Bool = false) throws {
    isKept = keep != nil
    let usesMemory = isInMemory && FileManager.default.isWritableFile(atPath: Self.memory.path)
    let temporary = usesMemory ? Self.memory : FileManager.default.temporaryDirectory
    url =
      keep.map { URL(fileURLWithPath: $0) }
      ?? temporary.appendingPathComponent("firebreak-bench-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(
        status: isKept ? .badInput : .machineFailed,
        message:
          "The folder \(url.path.printable) cannot be created: check the path and its permissions."
      )
    }
  }

  /// The URL for a new file.
  ///
  /// - Throws: `CommandFailure` if a file with this name exists.
  func newFile(_ name: String) throws -> URL {
    let file = url.appendingPathComponent(name)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw CommandFailure.badInput(
        "\(file.path.printable) already exists: choose another folder with --keep.")
    }
    return file
  }

  /// Removes the folder if it is temporary.
  @Sendable func removeUnlessKept() {
    if !isKept { FileManager.default.removeFolderInUse(url) }
  }
}
