//go:build !linux

package main

import "syscall"

// Only the demo starts a target, and it answers that it needs Linux: see command.LinuxOnly.

func besideJobs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func leaveJobsTheirCores() {}
