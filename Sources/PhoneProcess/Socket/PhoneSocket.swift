import Foundation
import Logging

/// The socket of a running phone, `phone.socket` in its folder, through which commands reach it.
///
/// Only processes of the same user are served: the file has mode 0600, and the peer credentials are checked.
package struct PhoneSocket: Sendable {
  /// The name of the file.
  package static let name = "phone.socket"

  private let listener: UnixListener
  private let logger: Logger

  /// Listens in `folder`; `serve` answers the requests. The caller holds the lock of the folder.
  package init(in folder: URL, logger: Logger) throws(UnixSocketError) {
    listener = try UnixListener(at: folder.appendingPathComponent(Self.name).path)
    self.logger = logger
  }

  /// Recreates the file if it was removed.
  package func restore() {
    do throws(UnixSocketError) {
      if try listener.restore() { logger.warning("\(Self.name) was removed and recreated") }
    } catch {
      logger.warning("\(Self.name) was removed and cannot be recreated: \(error)")
    }
  }

  /// Serves requests until the task is cancelled, then removes the file. Requests in progress are cancelled.
  package func serve(
    _ perform: @escaping @Sendable (PhoneRequest) async -> PhoneReply
  ) async {
    defer { listener.stop() }
    await withTaskGroup(of: Void.self) { group in
      var count = 0
      for await connection in listener.connections {
        if count >= PhoneMessageLimit.requestsAtOnce {
          await group.next()
          count -= 1
        }
        group.addTask { await answer(connection, perform) }
        count += 1
      }
      group.cancelAll()
    }
  }

  private func answer(
    _ connection: UnixSocket, _ perform: @Sendable (PhoneRequest) async -> PhoneReply
  ) async {
    guard connection.peerUser == geteuid() else {
      logger.warning("rejected a request from another user")
      return
    }
    do {
      let reply = await reply(to: try await request(from: connection), perform)
      try await UnixSocket.offThread {
        try PhoneMessage.send(
          reply, to: connection, before: .now + .seconds(PhoneMessageLimit.replySeconds))
      }
    } catch {
      // The command has ended, or the peer is not our command. A command reports the error itself.
      logger.debug("a request ended early", metadata: ["error": "\(error)"])
    }
  }

  private func request(
    from connection: UnixSocket
  ) async throws -> Result<PhoneRequest, PhoneMessageError> {
    try await UnixSocket.offThread {
      do {
        return .success(
          try PhoneMessage.receiveRequest(
            from: connection, before: .now + .seconds(PhoneMessageLimit.requestSeconds)))
      } catch let error as PhoneMessageError {
        return .failure(error)
      }
    }
  }

  private func reply(
    to request: Result<PhoneRequest, PhoneMessageError>,
    _ perform: @Sendable (PhoneRequest) async -> PhoneReply
  ) async -> PhoneReply {
    switch request {
    case .success(let request): await perform(request)
    case .failure(let error): error.reply
    }
  }
}

extension PhoneSocket {
  /// Asks the phone that runs on `folder`; `nil` if none is running.
  ///
  /// - Parameter seconds: The time in which the phone must answer; that of the operation if it is `nil`.
  /// - Throws: `UnixSocketError` if the phone does not answer.
  package static func ask(
    _ request: PhoneRequest, in folder: URL, seconds: Int? = nil
  ) async throws -> PhoneReply? {
    let path = folder.appendingPathComponent(name).path
    return try await UnixSocket.offThread {
      let socket: UnixSocket
      do {
        socket = try UnixSocket.connected(to: .file(path))
      } catch UnixSocketError.noListener {
        return nil
      }
      let start = ContinuousClock.now
      try PhoneMessage.send(
        request, to: socket, before: start + .seconds(PhoneMessageLimit.requestSeconds))
      return try PhoneMessage.receiveReply(
        from: socket, before: start + .seconds(seconds ?? request.operation.secondsMax))
    }
  }
}
