// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServedSystem
import TestSupport
import Testing

@Suite("Listening sockets of systemd", .needs(.process))
struct ServiceSocketTests {
  /// Passes sockets as systemd does: descriptors from 3, their names, and the process that they are for. Its arguments
  /// are a folder, the number of processes one after another, the sockets (`NAME=KIND`), `--` and the program with its
  /// arguments. It waits for a file before it starts the second process.
  private static let supervisor = """
    import os, socket, sys, time
    folder, rounds = sys.argv[1], int(sys.argv[2])
    end = sys.argv.index("--")
    names, kinds = zip(*(word.split("=") for word in sys.argv[3:end]))
    sockets = []
    for kind in kinds:
        type = socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM
        own = socket.socket(socket.AF_INET, type)
        own.bind(("0.0.0.0" if kind == "all" else "127.0.0.1", 0))
        if kind in ("tcp", "all"): own.listen(64)
        sockets.append(own)
    def write(name, text):
        with open(os.path.join(folder, name + ".new"), "w") as file: file.write(text)
        os.rename(os.path.join(folder, name + ".new"), os.path.join(folder, name))
    write("ports", "\\n".join(f"{n}={s.getsockname()[1]}" for n, s in zip(names, sockets)))
    status = 0
    for number in range(1, rounds + 1):
        while number > 1 and not os.path.exists(os.path.join(folder, f"go-{number}")): time.sleep(0.01)
        child = os.fork()
        if child == 0:
            kept = [os.dup(own.fileno()) for own in sockets]
            high = [os.dup2(descriptor, 100 + i) for i, descriptor in enumerate(kept)]
            for i, descriptor in enumerate(high): os.dup2(descriptor, 3 + i, inheritable=True)
            for descriptor in high: os.set_inheritable(descriptor, False)
            os.environ.update(
                LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(high)), LISTEN_FDNAMES=":".join(names))
            os.execv(sys.argv[end + 1], sys.argv[end + 1:])
        write(f"process-{number}", str(child))
        _, result = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(result)
        write(f"ended-{number}", str(status))
    sys.exit(status)
    """

  private let folder: TemporaryFolder
  private let program: URL

  init() throws {
    folder = try TemporaryFolder()
    program = URL(fileURLWithPath: "/usr/bin/python3")
  }

  private func arguments(
    _ sockets: [String], _ options: [String] = [], rounds: Int = 1
  ) throws -> [String] {
    ["-c", Self.supervisor, folder.url.path, "\(rounds)"] + sockets
      + [
        "--", try Run.product().path, "serve", "--json", "--port", "0", "--data",
        folder.path("data").path,
      ]
      + options
  }

  private func text(_ name: String) async throws -> String {
    let file = folder.path(name)
    try await Patience.until { FileManager.default.fileExists(atPath: file.path) }
    return try String(contentsOf: file, encoding: .utf8)
  }

  private func addresses(_ line: String?) throws -> [String: String] {
    let json = try JSONSerialization.jsonObject(with: Data((line ?? "{}").utf8)) as? [String: Any]
    return (json ?? [:]).compactMapValues { $0 as? String }
  }

  private func status(of url: String) async throws -> String {
    try await Shell.run("curl -s -m 60 -o /dev/null -w '%{http_code}' '\(url)'").output
  }

  /// The status after a reload. The servers that stop may close the connection that they have accepted last without a
  /// response; a port that refuses a connection is a failure at once.
  private func statusAfterReload(of url: String) async throws -> String {
    let (emptyReply, receiveFailed) = (Int32(52), Int32(56))
    let run = try await Shell.run("curl -s -m 60 -o /dev/null -w '%{http_code}' '\(url)'")
    guard [emptyReply, receiveFailed].contains(run.status) else { return run.output }
    return try await status(of: url)
  }

  @Test(
    "Servers listen on the sockets with their names, also after SIGHUP, and connections wait during a restart"
  )
  func served() async throws {
    let sockets = ["keys", "metrics", "verification", "console"].map { "\($0)=tcp" }
    try await ChildProcess.withRunning(program, arguments(sockets, rounds: 2)) { process in
      let addresses = try addresses(try await process.firstLine())
      let ports = try await text("ports").split(separator: "\n").map { $0.split(separator: "=") }
      #expect(ports.count == 4)
      let errors = try process.errors
      for port in ports {
        #expect(
          addresses[String(port[0])] == "http://127.0.0.1:\(port[1])", "\(errors)")
      }
      let keys = try #require(addresses["keys"])
      #expect(try await status(of: "\(keys)/health") == "200")
      #expect(try await status(of: "\(try #require(addresses["metrics"]))/metrics") == "200")
      #expect(try await status(of: "\(try #require(addresses["console"]))/") != "000")
      let first = try #require(Int32(try await text("process-1")))
      for _ in 1...2 {
        kill(first, SIGHUP)
        // The port never refuses a connection.
        for _ in 1...5 {
          #expect(try await statusAfterReload(of: "\(keys)/health") == "200")
        }
      }
      kill(first, SIGTERM)
      #expect(try await text("ended-1") == "0")
      async let waiting = status(of: "\(keys)/health")
      try Data().write(to: folder.path("go-2"))
      #expect(try await waiting == "200")
      kill(try #require(Int32(try await text("process-2"))), SIGTERM)
      #expect(try await process.wait() == 0)
    }
  }

  @Test("A request in progress is finished when servers on a socket of systemd stop")
  func finished() async throws {
    let isFinished = try await Patience.succeeds(within: QuietLimit.unfinishedRequestSeconds) {
      try await finishesRequest()
    }
    #expect(isFinished)
  }

  /// True if a request whose body is completed after the signal to stop gets its response.
  private func finishesRequest() async throws -> Bool {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    for name in names where name != "data" {
      try FileManager.default.removeItem(at: folder.path(name))
    }
    let sockets = ["verification=tcp", "keys=tcp", "console=tcp"]
    return try await ChildProcess.withRunning(program, arguments(sockets)) { process in
      let keys = try #require(try addresses(try await process.firstLine())["keys"])
      let port = try #require(Int(keys.split(separator: ":").last ?? ""))
      let client = FileHandle(
        fileDescriptor: try LocalSocket.connected(to: port), closeOnDealloc: true)
      let head =
        "POST /v1/publish HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
      try client.write(contentsOf: Data((head + "{").utf8))
      // The server has accepted the first connection when it serves a later one.
      #expect(try await status(of: "\(keys)/health") == "200")
      let first = try #require(Int32(try await text("process-1")))
      let start = ContinuousClock.now
      kill(first, SIGTERM)
      // A server that has waited too long has closed the connection.
      let isSent = send(client.fileDescriptor, "}", 1, Int32(MSG_NOSIGNAL)) == 1
      let isInTime =
        ContinuousClock.now - start < .seconds(QuietLimit.unfinishedRequestSeconds)
      let response = isSent ? (try? client.readToEnd()) ?? Data() : Data()
      #expect(try await process.wait() == 0)
      let isFinished = String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 4")
      #expect(isFinished || !isInTime)
      return isFinished
    }
  }

  @Test("A reload with which the socket of the console would be open to others changes nothing")
  func reloadedConsole() async throws {
    func write(_ settings: String) throws {
      try ServedAuthority.write(
        ["console/settings.json": settings], folders: ["console"], in: folder)
    }
    try write(#"{"origin":"https://console.example","allowsPlainHTTP":true}"#)
    let sockets = ["verification=tcp", "keys=tcp", "console=all"]
    try await ChildProcess.withRunning(program, arguments(sockets)) { process in
      let keys = try #require(try addresses(try await process.firstLine())["keys"])
      let servers = try #require(Int32(try await text("process-1")))
      try write("{}")
      kill(servers, SIGHUP)
      try await Patience.until { try process.errors.contains("were not reloaded") }
      #expect(try await status(of: "\(keys)/health") == "200")
      kill(servers, SIGTERM)
      #expect(try await process.wait() == 0)
    }
  }

  @Test(
    "A socket without a usable name, address or server ends the start with one line, and nothing is created",
    arguments: [
      (["http=tcp"], [], "with the name http: set FileDescriptorName="),
      (["keys=tcp", "keys=tcp"], [], "several sockets with the name keys"),
      (["keys=udp"], [], "socket keys of systemd does not listen"),
      (["keys=bound"], [], "socket keys of systemd does not listen"),
      (["keys=tcp"], ["--only", "verification"], "--only leaves out"),
      (["keys-tls=tcp"], [], "needs --tls-port"),
      (["console=all"], [], "let the socket listen on 127.0.0.1"),
    ] as [([String], [String], String)])
  func refused(sockets: [String], options: [String], fault: String) async throws {
    let run = try await ChildProcess.run(program, arguments(sockets, options))
    #expect(run.status == 2 && run.errors.contains(fault), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
    #expect(!FileManager.default.fileExists(atPath: folder.path("data").path))
  }

  @Test(
    "A number of sockets that is none, too large or below that of the names ends the start with one line",
    arguments: [
      ("LISTEN_FDS=many", "LISTEN_FDS is many"), ("LISTEN_FDS=-1", "LISTEN_FDS is -1"),
      ("LISTEN_FDS=99", "LISTEN_FDS is 99"),
      ("LISTEN_FDS=1 LISTEN_FDNAMES=keys:console", "has 2 names, but systemd passes 1"),
    ])
  func counted(variables: String, fault: String) async throws {
    let program = try Run.product().path
    let data = folder.path("data").path
    let run = try await Shell.run(
      "exec env LISTEN_PID=$$ \(variables) '\(program)' serve --port 0 --data '\(data)'")
    #expect(run.status == 2 && run.errors.contains(fault), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  @Test("Sockets for another process are not used")
  func otherProcess() async throws {
    let servers = try await ServedFirebreak(
      folder: folder,
      environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "keys"])
    #expect(try await servers.addresses().count == 3)
    #expect(try await servers.stop() == 0)
  }

  @Test("The sample units have no error")
  func units() async throws {
    let units = SharedData.projectRoot.appendingPathComponent("Deployment/systemd").path
    let verify = try await Shell.run(
      """
      set -e
      cd '\(folder.url.path)'
      cp '\(units)'/firebreak.service '\(units)'/sockets/*.socket .
      mkdir firebreak.service.d && cp '\(units)/sockets/firebreak.service.conf' firebreak.service.d/sockets.conf
      SYSTEMD_UNIT_PATH="$PWD:" systemd-analyze verify ./*.socket ./firebreak.service
      """)
    // The program and its manual page are not installed on this machine.
    let lines = verify.errors.split(separator: "\n").filter {
      !$0.contains("/usr/bin/firebreak is not executable") && !$0.contains("man firebreak(1)")
    }
    #expect(lines.isEmpty, "\(lines)")
  }
}
