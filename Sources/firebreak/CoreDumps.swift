import CProcessControl
import Foundation

/// Protection of the process's memory, which holds secrets in the clear.
enum CoreDumps {
  /// Makes the kernel write no core dump of this process, neither to a file nor to a program, and refuse other
  /// processes of the same user that want to read its memory.
  ///
  /// Reading the memory of the process is then left to root. SECURITY.md says which secrets it holds.
  ///
  /// - Throws: `CommandFailure` if the system does not allow it.
  static func disable() throws(CommandFailure) {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0,
      firebreak_make_undumpable() == 0
    else {
      throw CommandFailure(
        status: .machineFailed,
        sentence: "Core dumps cannot be disabled: check the limits of the system.")
    }
  }
}
