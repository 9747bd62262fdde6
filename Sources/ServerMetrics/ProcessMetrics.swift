// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The standard metrics of a process: processor time, memory, descriptors and start.
package enum ProcessMetrics {
  /// The metrics at this moment. One that the system does not tell is left out.
  package static func families(at now: Date) -> [MetricFamily] {
    [
      family(
        "process_cpu_seconds_total", .counter, help: "Processor time, of user and system.",
        processorSeconds),
      family(
        "process_resident_memory_bytes", .gauge, help: "Memory that is not swapped out.",
        residentBytes),
      family("process_open_fds", .gauge, help: "Open file descriptors.", openDescriptors),
      family(
        "process_max_fds", .gauge, help: "The limit of open file descriptors.", descriptorsMax),
      family(
        "process_start_time_seconds", .gauge, help: "The start of the process in Unix time.",
        age.map { (now.timeIntervalSince1970 - $0).rounded() }),
    ].filter { !$0.samples.isEmpty }
  }

  private static func family(
    _ name: String, _ kind: MetricFamily.Kind, help: String, _ value: Double?
  ) -> MetricFamily {
    MetricFamily(name, kind, help: help, value.map { [MetricSample($0)] } ?? [])
  }

  private static var processorSeconds: Double? {
    var usage = rusage()
    guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return nil }
    func seconds(_ time: timeval) -> Double {
      Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  private static var residentBytes: Double? {
    let fields = FileManager.default.contents(atPath: "/proc/self/statm").map {
      String(decoding: $0, as: UTF8.self).split(separator: " ")
    }
    guard let fields, fields.count > 1, let pages = Double(fields[1]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static var openDescriptors: Double? {
    // Without /proc there is no number.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map {
      Double($0.count)
    }
  }

  private static var descriptorsMax: Double? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return Double(limit.rlim_cur)
  }

  /// The seconds since the start of the process.
  private static var age: Double? {
    guard let stat = FileManager.default.contents(atPath: "/proc/self/stat"),
      let uptime = FileManager.default.contents(atPath: "/proc/uptime"),
      let sinceBoot = String(decoding: uptime, as: UTF8.self).split(separator: " ").first
    else { return nil }
    // The name of the program, in parentheses, may contain spaces. The start is field 22, the 20th after the name.
    let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?
      .split(separator: " ")
    guard let fields, fields.count > 19, let ticks = Double(fields[19]),
      let seconds = Double(sinceBoot)
    else { return nil }
    return seconds - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
