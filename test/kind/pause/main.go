// Command pause waits until it is asked to end: it stands for the image of that name where none can be pulled.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	<-asked
}
