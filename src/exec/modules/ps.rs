//! `ps.*`: processes, processors, memory and disks.

mod machine;
mod process;

use halite_core::module::{Module, function};

pub const MODULE: Module = Module {
    name: "ps",
    doc: "Processes, processors, memory and disks.",
    functions: &[
        function::<machine::BootTime>("boot_time"),
        function::<machine::CpuPercent>("cpu_percent"),
        function::<machine::CpuTimes>("cpu_times"),
        function::<machine::DiskIoCounters>("disk_io_counters"),
        function::<machine::DiskPartitionUsage>("disk_partition_usage"),
        function::<machine::DiskPartitions>("disk_partitions"),
        function::<machine::DiskUsage>("disk_usage"),
        function::<process::GetPidList>("get_pid_list"),
        function::<machine::GetUsers>("get_users"),
        function::<process::KillPid>("kill_pid"),
        function::<process::Lsof>("lsof"),
        function::<process::Netstat>("netstat"),
        function::<machine::NetworkIoCounters>("network_io_counters"),
        function::<machine::NumCpus>("num_cpus"),
        function::<process::Pgrep>("pgrep"),
        function::<process::Pkill>("pkill"),
        function::<process::ProcInfo>("proc_info"),
        function::<process::Psaux>("psaux"),
        function::<process::Ss>("ss"),
        function::<process::Status>("status"),
        function::<machine::SwapMemory>("swap_memory"),
        function::<process::Top>("top"),
        function::<machine::TotalPhysicalMemory>("total_physical_memory"),
        function::<machine::VirtualMemory>("virtual_memory"),
    ],
};
