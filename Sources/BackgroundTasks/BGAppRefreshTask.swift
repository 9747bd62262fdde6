/// A run of seconds.
open class BGAppRefreshTask: BGTask {}
