// libarchive: the zip container of diagnosis key files, read and written as a stream.
#include <archive.h>
#include <archive_entry.h>
