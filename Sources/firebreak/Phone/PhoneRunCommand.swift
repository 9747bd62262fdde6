// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureApp
import Foundation
import Logging
import PWA
import PhoneProcess
import Terminal
import UnixSockets
import World

/// `firebreak phone run`: runs the phone until SIGINT or SIGTERM.
struct PhoneRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run the phone until Ctrl-C or SIGTERM.",
    discussion: """
      The first line on stdout says that the phone serves commands. With --web it serves its user interface as well, \
      to the browsers of this user on this machine: Documentation/Bridge.md.
      """)

  @Option(
    help: ArgumentHelp(
      "Serve the user interface on this port of loopback; 0 selects a free one.", valueName: "port")
  )
  var web: Int?

  @Option(
    help: ArgumentHelp(
      "Serve the web app in this folder instead of ours, with the bridge.", valueName: "folder"))
  var pages: String?

  @Flag(
    help: """
      Write a copy of --pages to the phone's folder, for a web app that runs only from a file, and print its file: \
      address.
      """)
  var asFile = false

  @Flag(help: ArgumentHelp("Stop when stdin ends.", visibility: .hidden))
  var untilEndOfInput = false

  @OptionGroup var options: PhoneOptions

  func validate() throws {
    guard (0...Int(UInt16.max)).contains(web ?? 0) else {
      throw ValidationError("--web takes 0 to \(UInt16.max).")
    }
    guard pages == nil || web != nil else {
      throw ValidationError("--pages needs --web: name a port, or 0 for any.")
    }
    guard !asFile || pages != nil else {
      throw ValidationError("--as-file needs --pages: name the folder of a web app.")
    }
  }

  private struct Ready: Encodable {
    let ready = true
    let socket: String
    /// The address of the user interface, with the secret.
    let web: String?
    /// The address of the copy of the pages, with a secret of its own.
    let file: String?
  }

  func run() async throws {
    if untilEndOfInput { EndOfInput.stopAtEndOfInput() }
    let opening = PhoneFactory(options)
    if !FileManager.default.fileExists(atPath: options.data) { try requirePort() }
    let folder = try opening.folder(isRunning: true)
    let lock = try await lock(folder)
    defer { withExtendedLifetime(lock) {} }
    try requirePort()
    let network = opening.network()
    let result = await Result { try await run(opening, in: folder, lock, network: network) }
    await network.shutdown()
    try result.get()
  }

  /// Throws if the user interface could not be served.
  private func requirePort() throws {
    for address in ListeningAddress.loopback(port: web ?? 0, option: "--web") {
      try address.requireAvailable()
    }
  }

  private func run(
    _ opening: PhoneFactory, in folder: PhoneFolder, _ lock: HeldFolderLock, network: HTTPNetwork
  ) async throws {
    let phone = try opening.phone(in: folder, isRunning: true, network: network)
    try removeLeftoverCopy(in: folder)
    let socket = folder.url.appendingPathComponent(PhoneSocket.name).path
    let website = try website(of: phone, in: folder, logger: opening.logger)
    let running = Task { try await run(phone, website, socket: socket, lock) }
    let signals = SignalHandler { _ in running.cancel() }
    defer { withExtendedLifetime(signals) {} }
    do {
      try await running.value
    } catch is CancellationError {
      // Cancelled by SIGINT or SIGTERM.
    } catch let error as WebsiteError {
      throw CommandFailure.machineFailed(error.description.printable)
    } catch let error as PhoneFolderReplaced {
      throw CommandFailure.machineFailed(error.description.printable)
    } catch is UnixSocketError {
      throw CommandFailure.machineFailed(
        "\(socket.printable) cannot be opened: check the disk and the folder.")
    }
  }

  /// Removes the copy of the pages, with its secret, of a phone that was killed.
  private func removeLeftoverCopy(in folder: PhoneFolder) throws {
    let copy = folder.pageCopy
    do {
      try PhoneWebsite.removeLeftoverCopy(in: copy, pages: pages.map { URL(fileURLWithPath: $0) })
    } catch {
      throw CommandFailure.machineFailed(
        "\(copy.path.printable) cannot be removed: check the disk and the folder.")
    }
  }

  /// The user interface; `nil` without `--web`.
  private func website(
    of phone: Phone, in folder: PhoneFolder, logger: Logger
  ) throws -> PhoneWebsite? {
    guard let web else { return nil }
    let bridge = Bridge(
      to: phone, statistics: PublishedStatistics(phone.statistics), version: ProductVersion.number,
      clock: phone.clock)
    do {
      return try PhoneWebsite(
        bridge, port: web, pages: pages.map { URL(fileURLWithPath: $0) },
        copy: asFile ? folder.pageCopy : nil,
        texts: { Language(rawValue: $0).flatMap(Catalogues.json) }, randomness: SystemRandomness(),
        logger: logger)
    } catch {
      throw CommandFailure.badInput(error.description.printable)
    }
  }

  private func run(
    _ phone: Phone, _ website: PhoneWebsite?, socket: String, _ lock: HeldFolderLock
  ) async throws {
    let (opening, opened) = AsyncStream.makeStream(of: Void.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await phone.run(holding: lock) {
          opened.finish()
          if website == nil { try report(socket: socket) }
        }
      }
      if let website {
        group.addTask {
          for await _ in opening {}
          try await website.run { try report(socket: socket, web: $0, file: $1) }
        }
      }
      try await group.next()
    }
  }

  /// Prints that the phone serves commands.
  private func report(socket: String, web: String? = nil, file: String? = nil) throws {
    if options.json { return try printJSON(Ready(socket: socket, web: web, file: file)) }
    let lines = [
      "The phone is running. Press Ctrl-C to stop.", web.map { "Open \($0)" },
      file.map { "Or open \($0)" },
    ]
    try StandardOutput.write(lines.compactMap(\.self).joined(separator: "\n"))
  }

  /// A command that opens the storage itself holds the lock for a moment.
  private func lock(_ folder: PhoneFolder) async throws -> HeldFolderLock {
    let end = ContinuousClock.now + .seconds(PhoneAccessLimit.lockSeconds)
    while true {
      if let lock = try PhoneFactory.reporting({ try folder.lock() }) { return lock }
      // A command that opens the storage itself has no socket, and a phone that starts has none yet.
      let isRunning = try? await PhoneSocket.ask(PhoneRequest(.status), in: folder.url) != nil
      guard isRunning != true, ContinuousClock.now < end else {
        throw CommandFailure.badInput(
          "A phone is already running on \(folder.url.path.printable): stop it, or name another"
            + " folder.")
      }
      try await Task.sleep(for: PhoneAccessLimit.lockInterval)
    }
  }
}

/// The access of a command to a phone: through its socket, or directly if it is not running.
struct PhoneAccess {
  let options: PhoneOptions

  /// Performs `request`.
  ///
  /// - Throws: `CommandFailure` if the phone cannot be reached or opened.
  func perform(_ request: PhoneRequest) async throws -> PhoneReply {
    var request = request
    request.start = options.start
    let opening = PhoneFactory(options)
    let folder = try opening.folder()
    let end = ContinuousClock.now + .seconds(PhoneAccessLimit.lockSeconds)
    while ContinuousClock.now < end {
      do {
        if let reply = try await PhoneSocket.ask(request, in: folder.url) { return reply }
      } catch let error as PhoneSocketError {
        throw error == .requestTooLong
          ? CommandFailure.badInput(error.rawValue) : CommandFailure.machineFailed(error.rawValue)
      } catch is UnixSocketError {
        throw CommandFailure.machineFailed(
          "The running phone does not answer: try again, or restart it.")
      }
      if let lock = try PhoneFactory.reporting({ try folder.lock() }) {
        defer { withExtendedLifetime(lock) {} }
        return try await performDirectly(request, opening, in: folder)
      }
      // The phone is starting or stopping, or another command has opened it.
      try await Task.sleep(for: PhoneAccessLimit.lockInterval)
    }
    throw CommandFailure.machineFailed(
      "Another process uses \(folder.url.path.printable): try again when it has ended.")
  }

  private func performDirectly(
    _ request: PhoneRequest, _ opening: PhoneFactory, in folder: PhoneFolder
  ) async throws -> PhoneReply {
    let network = opening.network()
    let result = await Result {
      let phone = try opening.phone(in: folder, isRunning: false, network: network)
      await phone.start()
      return await phone.perform(request)
    }
    await network.shutdown()
    return try result.get()
  }
}

/// Limits of the access to a phone.
enum PhoneAccessLimit {
  /// The time that a command waits for another process that holds the folder's lock, in seconds.
  static let lockSeconds = 10
  /// The interval between attempts to take the lock.
  static let lockInterval = Duration.milliseconds(50)
}

extension Result where Failure == any Error {
  /// The result of asynchronous work.
  fileprivate init(_ work: () async throws -> Success) async {
    do { self = .success(try await work()) } catch { self = .failure(error) }
  }
}
