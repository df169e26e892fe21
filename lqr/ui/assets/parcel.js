// Saves what the server made of the conversation as a file: {name, type, text}. The server keeps no copy.
watch("value", () => {
  const file = props.value;
  if (!file?.name) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.text], { type: `${file.type};charset=utf-8` }));
  link.download = file.name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
});
